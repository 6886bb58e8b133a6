package kubeapiserver_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	authenticationv1 "k8s.io/api/authentication/v1"
)

// issuer is an OpenID Connect issuer.
type issuer struct {
	*httptest.Server
	ca, caFile string

	mu   sync.Mutex
	down bool
	key  jose.JSONWebKey
	keys int
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{}
	i.rotate(t)
	i.Server = httptest.NewTLSServer(i)
	t.Cleanup(i.Close)
	i.ca = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Certificate().Raw}))
	i.caFile = filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(i.caFile, []byte(i.ca), 0o600); err != nil {
		t.Fatal(err)
	}
	return i
}

// ServeHTTP implements http.Handler.
func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case i.down:
		http.Error(w, "the issuer is down", http.StatusServiceUnavailable)
	case r.URL.Path == "/.well-known/openid-configuration":
		json.NewEncoder(w).Encode(map[string]any{"issuer": i.URL, "jwks_uri": i.URL + "/keys"})
	case r.URL.Path == "/keys":
		i.keys++
		json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{i.key.Public()}})
	default:
		http.NotFound(w, r)
	}
}

func (i *issuer) setDown(down bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.down = down
}

// rotate makes another key that of the issuer.
func (i *issuer) rotate(t *testing.T) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.key = jose.JSONWebKey{Key: key, KeyID: rand.Text(), Algorithm: "RS256", Use: "sig"}
}

// sign returns a token of ann for the audience kubernetes, valid for an hour, with other claims if more has any.
func (i *issuer) sign(t *testing.T, more map[string]any) string {
	t.Helper()
	i.mu.Lock()
	defer i.mu.Unlock()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: i.key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	claims := map[string]any{"iss": i.URL, "aud": "kubernetes", "sub": "ann", "exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix(), "jti": rand.Text()}
	maps.Copy(claims, more)
	text, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

type claims = map[string]any

// TestIssuerFlags: the issuer of the --oidc flags gives users their names and groups.
func TestIssuerFlags(t *testing.T) {
	i, log := newIssuer(t), recordLog(t)
	as := start(t, "--oidc-issuer-url="+i.URL, "--oidc-client-id=kubernetes", "--oidc-ca-file="+i.caFile, "--oidc-groups-claim=teams",
		"--oidc-groups-prefix=team:", "--oidc-required-claim=tier=gold", "--oidc-required-claim=site=a,b")
	url, client := host(as("")), httpClient(t, nil, "")
	valid := claims{"tier": "gold", "site": "a,b", "teams": []string{"red", "blue"}, "jti": "t-1"}
	with := func(more claims) claims {
		all := maps.Clone(valid)
		maps.Copy(all, more)
		return all
	}
	eventually(t, "the issuer is asked for its keys", func() bool {
		code, _, _ := whoami(t, client, url, bearer(i.sign(t, valid)))
		return code == http.StatusCreated
	})
	ann := authenticationv1.UserInfo{
		Username: i.URL + "#ann", Groups: []string{"team:red", "team:blue", "system:authenticated"},
		Extra: map[string]authenticationv1.ExtraValue{"authentication.kubernetes.io/credential-id": {"JTI=t-1"}},
	}
	if code, user, body := whoami(t, client, url, bearer(i.sign(t, valid))); code != http.StatusCreated || !reflect.DeepEqual(user, ann) {
		t.Errorf("%d %+v %s, want %+v", code, user, body, ann)
	}
	before := i.sign(t, valid)
	for _, c := range []struct {
		title, token, reason string
	}{
		{"expired", i.sign(t, with(claims{"exp": time.Now().Add(-time.Hour).Unix()})), "token is expired"},
		{"of another audience", i.sign(t, with(claims{"aud": "elsewhere"})), "expected audience"},
		{"without a required claim", i.sign(t, with(claims{"tier": "tin"})), "required claim tier value does not match"},
		{"with a forged signature", before[:len(before)-8] + strings.Repeat("A", 8), "failed to verify signature"},
		{"of another issuer", i.sign(t, with(claims{"iss": "https://elsewhere.example.com"})), ""},
	} {
		if code, _, body := whoami(t, client, url, bearer(c.token)); code != http.StatusUnauthorized || strings.Contains(body, "issuer") || !strings.Contains(log(), c.reason) {
			t.Errorf("a token %s: %d %s; the log has no %q:\n%s", c.title, code, body, c.reason, log())
		}
	}
	i.rotate(t)
	fresh := func() string { return i.sign(t, with(claims{"jti": rand.Text()})) } // which the server has not verified before
	if code, _, body := whoami(t, client, url, bearer(fresh())); code != http.StatusCreated {
		t.Errorf("a token of a new key: %d %s", code, body)
	}
	i.setDown(true)
	if code, _, body := whoami(t, client, url, bearer(fresh())); code != http.StatusCreated {
		t.Errorf("a token of a known key of an issuer that is down: %d %s", code, body)
	}
	i.rotate(t)
	if code, _, _ := whoami(t, client, url, bearer(fresh())); code != http.StatusUnauthorized {
		t.Errorf("a token of an unknown key of an issuer that is down: %d", code)
	}
	if err := list(t, as("ada-token")); err != nil {
		t.Errorf("a token of the file: %v", err)
	}
	i.setDown(false)
	if code, _, body := whoami(t, client, url, bearer(fresh())); code != http.StatusCreated {
		t.Errorf("a token of a new key of an issuer that is back: %d %s", code, body)
	}
}
