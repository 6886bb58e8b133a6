package token_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/token"
)

const url = "https://cluster.example"

// world is a Lookup of fixed objects.
type world map[string]runtime.Object

func (w world) Get(_ context.Context, gr schema.GroupResource, namespace, name string) (runtime.Object, error) {
	if obj, ok := w[gr.Resource+"/"+namespace+"/"+name]; ok {
		return obj, nil
	}
	return nil, apierrors.NewNotFound(gr, name)
}

func (w world) List(context.Context, schema.GroupResource, string) ([]runtime.Object, error) {
	return nil, nil
}

func named(namespace, name, uid string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(uid)}
}

func start(t testing.TB) (world, *token.Issuer, *token.Accounts) {
	t.Helper()
	w := world{
		"serviceaccounts/shop/till": &corev1.ServiceAccount{ObjectMeta: named("shop", "till", "u1")},
		"pods/shop/till-0":          &corev1.Pod{ObjectMeta: named("shop", "till-0", "u2"), Spec: corev1.PodSpec{ServiceAccountName: "till", NodeName: "n1"}},
		"pods/shop/other":           &corev1.Pod{ObjectMeta: named("shop", "other", "u3"), Spec: corev1.PodSpec{ServiceAccountName: "default"}},
		"nodes//n1":                 &corev1.Node{ObjectMeta: named("", "n1", "u4")},
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := token.NewSigner(key)
	if err != nil {
		t.Fatal(err)
	}
	issuer := token.NewIssuer([]string{url}, signer)
	return w, issuer, token.NewAccounts(issuer, []string{url}, token.LivingIn(w))
}

func request(ref *authenticationv1.BoundObjectReference, seconds int64, audiences ...string) *authenticationv1.TokenRequest {
	return &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: audiences, ExpirationSeconds: &seconds, BoundObjectRef: ref}}
}

func noWarning(string) {}

var toPod = &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: "till-0"}

func TestRoundTrip(t *testing.T) {
	w, _, accounts := start(t)
	ctx := context.Background()
	out, _, err := accounts.Request(ctx, w, "shop", "till", request(toPod, 3600), false, noWarning)
	if err != nil {
		t.Fatal(err)
	}
	left := time.Until(out.Status.ExpirationTimestamp.Time)
	if out.Name != "till" || out.UID != "u1" || len(out.Spec.Audiences) != 1 || left < 59*time.Minute || left > time.Hour {
		t.Errorf("the request became %+v", out)
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Authorization", "Bearer "+out.Status.Token)
	u, ok, err := token.Authenticator(accounts).Authenticate(r)
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	if id := u.Extra[auth.CredentialID]; len(id) != 1 || !strings.HasPrefix(id[0], "JTI=") {
		t.Errorf("credential is %v", id)
	}
	delete(u.Extra, auth.CredentialID)
	want := &auth.User{
		Name: "system:serviceaccount:shop:till", UID: "u1",
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated"},
		Extra:  map[string][]string{auth.PodName: {"till-0"}, auth.PodUID: {"u2"}, auth.NodeName: {"n1"}, auth.NodeUID: {"u4"}},
	}
	if d := cmp.Diff(want, u); d != "" {
		t.Error(d)
	}

	// In a WebSocket, the token is a subprotocol.
	r = httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Sec-WebSocket-Protocol", "v5.channel.k8s.io, base64url.bearer.authorization.k8s.io."+base64.RawURLEncoding.EncodeToString([]byte(out.Status.Token)))
	if u, ok, err := token.Authenticator(accounts).Authenticate(r); !ok || err != nil || u.UID != "u1" {
		t.Errorf("by subprotocol: %v %v %v", u, ok, err)
	}

	for step, change := range []func(){
		func() { delete(w, "pods/shop/till-0") },
		func() { w["pods/shop/till-0"] = &corev1.Pod{ObjectMeta: named("shop", "till-0", "again")} },
	} {
		change()
		if _, err := accounts.Verify(ctx, out.Status.Token, nil); err == nil || err.Error() != "service account token has been invalidated" {
			t.Errorf("pod change %d: %v", step, err)
		}
	}
	w["pods/shop/till-0"] = &corev1.Pod{ObjectMeta: named("shop", "till-0", "u2")}
	w["serviceaccounts/shop/till"] = &corev1.ServiceAccount{ObjectMeta: named("shop", "till", "new")}
	if _, err := accounts.Verify(ctx, out.Status.Token, nil); err == nil || !strings.Contains(err.Error(), "does not match claim") {
		t.Errorf("a new account of the same name: %v", err)
	}
}

func TestVerify(t *testing.T) {
	w, issuer, accounts := start(t)
	ctx := context.Background()
	sign := func(i *token.Issuer, change func(*token.Claims)) string {
		now := time.Now()
		c := token.Claims{
			Claims: jwt.Claims{
				Subject: "system:serviceaccount:shop:till", Audience: []string{url}, IssuedAt: jwt.NewNumericDate(now),
				NotBefore: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(time.Hour)),
			},
			Kubernetes: token.Binding{Namespace: "shop", ServiceAccount: token.Ref{Name: "till", UID: "u1"}},
		}
		if change != nil {
			change(&c)
		}
		s, err := i.Sign(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	_, stranger, _ := start(t)
	good := sign(issuer, nil)
	other := func(c *token.Claims) { c.Audience = []string{"vault", "db"} }
	for _, c := range []struct {
		name, token string
		audiences   []string
		err         string // "" if valid, "-" if not of the verifier's kind
	}{
		{"good", good, nil, ""},
		{"no JWT", "abcdef", nil, "-"},
		{"another key", sign(stranger, nil), nil, "invalid bearer token"},
		{"tampered", good[:len(good)-8] + "AAAAAAAA", nil, "invalid bearer token"},
		{"expired", sign(issuer, func(c *token.Claims) { c.Expiry = jwt.NewNumericDate(time.Now().Add(-time.Hour)) }), nil, "service account token has expired"},
		{"early", sign(issuer, func(c *token.Claims) { c.NotBefore = jwt.NewNumericDate(time.Now().Add(time.Hour)) }), nil, "service account token is not valid yet"},
		{"for others", sign(issuer, other), nil, "target audiences"},
		{"for who asks", sign(issuer, other), []string{"db", "x"}, ""},
	} {
		id, err := accounts.Verify(ctx, c.token, c.audiences)
		switch {
		case c.err == "" && (err != nil || id == nil):
			t.Errorf("%s: %v", c.name, err)
		case c.err == "-" && (err != nil || id != nil):
			t.Errorf("%s: %v %v", c.name, id, err)
		case len(c.err) > 1 && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: %v", c.name, err)
		}
		if c.name == "for who asks" && id != nil && (len(id.Audiences) != 1 || id.Audiences[0] != "db") {
			t.Errorf("audiences are %v", id.Audiences)
		}
	}
	delete(w, "serviceaccounts/shop/till")
	if _, err := accounts.Verify(ctx, good, nil); err == nil {
		t.Error("the token outlives its account")
	}
}

func TestRequestRefused(t *testing.T) {
	w, _, accounts := start(t)
	for _, c := range []struct {
		name, account string
		req           *authenticationv1.TokenRequest
		is            func(error) bool
	}{
		{"no account", "nobody", request(nil, 3600), apierrors.IsNotFound},
		{"too short", "till", request(nil, 599), apierrors.IsInvalid},
		{"too long", "till", request(nil, 1<<32+1), apierrors.IsInvalid},
		{"another's pod", "till", request(&authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: "other"}, 3600), apierrors.IsBadRequest},
		{"no pod", "till", request(&authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: "x"}, 3600), apierrors.IsNotFound},
		{"another UID", "till", request(&authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: "till-0", UID: "x"}, 3600), apierrors.IsConflict},
		{"another kind", "till", request(&authenticationv1.BoundObjectReference{Kind: "Job", APIVersion: "batch/v1", Name: "x"}, 3600), apierrors.IsBadRequest},
	} {
		if _, _, err := accounts.Request(context.Background(), w, "shop", c.account, c.req, false, noWarning); err == nil || !c.is(err) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	out, _, err := accounts.Request(context.Background(), w, "shop", "till", request(nil, 3600), true, noWarning)
	if err != nil || out.Status.Token != "" {
		t.Errorf("a dry run gives %q, %v", out.Status.Token, err)
	}
}

// TestOpenID verifies a token with only the documents that the server publishes.
func TestOpenID(t *testing.T) {
	w, issuer, accounts := start(t)
	h := issuer.Handler("https://host:6443" + token.KeysPath)
	get := func(path string, into any) {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest("GET", path, nil))
		if err := json.Unmarshal(rec.Body.Bytes(), into); err != nil || rec.Code != 200 {
			t.Fatalf("%s: %d %v", path, rec.Code, err)
		}
	}
	var conf struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	get(token.ConfigurationPath, &conf)
	if conf.Issuer != url || conf.Keys != "https://host:6443/openid/v1/jwks" {
		t.Errorf("configuration is %+v", conf)
	}
	var keys jose.JSONWebKeySet
	get(token.KeysPath, &keys)
	out, _, err := accounts.Request(context.Background(), w, "shop", "till", request(nil, 3600, "vault"), false, noWarning)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := jwt.ParseSigned(out.Status.Token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	var claims map[string]any
	if err := parsed.Claims(keys, &claims); err != nil {
		t.Fatal(err)
	}
	if claims["iss"] != url || claims["sub"] != "system:serviceaccount:shop:till" || claims["kubernetes.io"].(map[string]any)["namespace"] != "shop" {
		t.Errorf("claims are %v", claims)
	}
}

// TestKeys tells tokens of all kinds of keys, and of earlier keys and issuers, from those of others.
func TestKeys(t *testing.T) {
	w, _, _ := start(t)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	keys := []crypto.Signer{rsaKey}
	for _, curve := range []elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()} {
		key, err := ecdsa.GenerateKey(curve, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	sign := func(urls []string, key crypto.Signer, older ...crypto.PublicKey) (string, *token.Accounts) {
		signer, err := token.NewSigner(key, older...)
		if err != nil {
			t.Fatal(err)
		}
		accounts := token.NewAccounts(token.NewIssuer(urls, signer), []string{"api"}, token.LivingIn(w))
		out, _, err := accounts.Request(t.Context(), w, "shop", "till", request(nil, 3600), false, noWarning)
		if err != nil {
			t.Fatal(err)
		}
		return out.Status.Token, accounts
	}
	for i, key := range keys {
		text, accounts := sign([]string{url}, key)
		if id, err := accounts.Verify(t.Context(), text, nil); err != nil || id == nil {
			t.Errorf("%T: %v", key, err)
		}
		other := keys[(i+1)%len(keys)]
		if _, strict := sign([]string{url}, other); true {
			if _, err := strict.Verify(t.Context(), text, nil); !errors.Is(err, token.ErrInvalid) {
				t.Errorf("%T: another key's server answers %v", key, err)
			}
		}
		_, rotated := sign([]string{"https://new", url}, other, other.Public(), key.Public())
		if id, err := rotated.Verify(t.Context(), text, nil); err != nil || id == nil {
			t.Errorf("%T: after a rotation: %v", key, err)
		}
		_, renamed := sign([]string{"https://new"}, key)
		if id, err := renamed.Verify(t.Context(), text, nil); id != nil || err != nil {
			t.Errorf("%T: a server with another name answers %v, %v", key, id, err)
		}
	}
	small, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := token.NewSigner(small); err == nil {
		t.Error("a key on P-224 was accepted")
	}
}

func TestMaxExpiration(t *testing.T) {
	w, _, accounts := start(t)
	warned := ""
	accounts.MaxExpiration = time.Hour
	out, _, err := accounts.Request(t.Context(), w, "shop", "till", request(nil, 7200), false, func(text string) { warned = text })
	if err != nil || *out.Spec.ExpirationSeconds != 3600 || warned != "requested expiration of 7200 seconds shortened to 3600 seconds" {
		t.Errorf("a longer expiration became %v, with the warning %q: %v", out, warned, err)
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.csv")
	if err := os.WriteFile(path, []byte("secret,ann,u1,\"dev,ops\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := token.FromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		header string
		ok     bool
		err    error
	}{{"Bearer secret", true, nil}, {"bearer  secret ", true, nil}, {"Bearer wrong", false, token.ErrInvalid}, {"", false, nil}, {"Basic c2VjcmV0", false, nil}} {
		r := httptest.NewRequest("GET", "/", nil)
		if c.header != "" {
			r.Header.Set("Authorization", c.header)
		}
		u, ok, err := token.Authenticator(token.Union{s}).Authenticate(r)
		if ok != c.ok || err != c.err || ok && (u.Name != "ann" || u.UID != "u1" || !u.InGroup("dev") || !u.InGroup("ops") || !u.InGroup(auth.AllAuthenticated)) {
			t.Errorf("%q: %+v %v %v", c.header, u, ok, err)
		}
	}
}
