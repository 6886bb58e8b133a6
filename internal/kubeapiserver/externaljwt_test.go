package kubeapiserver_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/externaljwt/apis/v1"
)

// externalSigner is a program that signs service account tokens.
type externalSigner struct {
	v1.UnimplementedExternalJWTSignerServer
	socket  string
	longest int64 // seconds

	mu      sync.Mutex
	keys    []*ecdsa.PrivateKey // the last one signs
	hidden  bool                // the last one is
	failing bool
	fetches int
}

func newExternalSigner(t *testing.T, longest int64) *externalSigner {
	t.Helper()
	dir, err := os.MkdirTemp("", "jwt") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &externalSigner{socket: filepath.Join(dir, "s"), longest: longest}
	s.rotate(t, false)
	l, err := net.Listen("unix", s.socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	v1.RegisterExternalJWTSignerServer(server, s)
	go server.Serve(l)
	t.Cleanup(server.Stop)
	return s
}

func (s *externalSigner) rotate(t *testing.T, hidden bool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys, s.hidden = append(s.keys, key), hidden
}

func (s *externalSigner) setFailing(failing bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failing = failing
}

// keyName is the ID of the n-th key.
func keyName(n int) string { return "key-" + string(rune('a'+n)) }

func (s *externalSigner) Sign(_ context.Context, in *v1.SignJWTRequest) (*v1.SignJWTResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing {
		return nil, status.Error(codes.Internal, "the vault is closed")
	}
	last := len(s.keys) - 1
	header := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"ES256","kid":"` + keyName(last) + `","typ":"JWT"}`))
	sum := sha256.Sum256([]byte(header + "." + in.Claims))
	r, z, err := ecdsa.Sign(rand.Reader, s.keys[last], sum[:])
	if err != nil {
		return nil, err
	}
	signature := append(r.FillBytes(make([]byte, 32)), z.FillBytes(make([]byte, 32))...)
	return &v1.SignJWTResponse{Header: header, Signature: base64.RawURLEncoding.EncodeToString(signature)}, nil
}

func (s *externalSigner) FetchKeys(context.Context, *v1.FetchKeysRequest) (*v1.FetchKeysResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing {
		return nil, status.Error(codes.Internal, "the vault is closed")
	}
	s.fetches++
	out := &v1.FetchKeysResponse{RefreshHintSeconds: 3000, DataTimestamp: timestamppb.Now()}
	for i, key := range s.keys {
		der, err := x509.MarshalPKIXPublicKey(crypto.PublicKey(&key.PublicKey))
		if err != nil {
			return nil, err
		}
		out.Keys = append(out.Keys, &v1.Key{KeyId: keyName(i), Key: der, ExcludeFromOidcDiscovery: s.hidden && i == len(s.keys)-1})
	}
	return out, nil
}

func (s *externalSigner) Metadata(context.Context, *v1.MetadataRequest) (*v1.MetadataResponse, error) {
	return &v1.MetadataResponse{MaxTokenExpirationSeconds: s.longest}, nil
}

// requestToken requests a token of the service account default of the namespace default.
func requestToken(t *testing.T, c *kubernetes.Clientset, seconds int64) (string, error) {
	t.Helper()
	out, err := c.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "default", &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds},
	}, metav1.CreateOptions{})
	return out.Status.Token, err
}

// TestExternalSigner: a program on a socket signs tokens, and its keys verify them.
func TestExternalSigner(t *testing.T) {
	s := newExternalSigner(t, 7200)
	as := start(t, "--service-account-signing-endpoint="+s.socket, "--service-account-issuer=https://example.com")
	root, url, client := as("root-token"), host(as("")), httpClient(t, nil, "")
	if _, err := root.CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	accepted := func(token string) bool {
		_, user, _ := whoami(t, client, url, bearer(token))
		return user.Username == "system:serviceaccount:default:default"
	}
	first, err := requestToken(t, root, 100000)
	if err != nil || !accepted(first) {
		t.Fatal("the first token: ", first, err)
	}
	var claims jwt.Claims
	parsed, err := jwt.ParseSigned(first, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil || parsed.UnsafeClaimsWithoutVerification(&claims) != nil || claims.Expiry.Time().Sub(claims.IssuedAt.Time()).Seconds() != 7200 || claims.Issuer != "https://example.com" {
		t.Errorf("%v %+v, want a token of two hours", err, claims)
	}
	s.rotate(t, false)
	second, err := requestToken(t, root, 3600)
	if err != nil || !accepted(second) || !accepted(first) {
		t.Errorf("after the rotation: %v", err)
	}
	resp, err := client.Do(withBearer(t, url+"/openid/v1/jwks", "root-token"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var documents struct {
		Keys []struct {
			ID string `json:"kid"`
		} `json:"keys"`
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil || json.Unmarshal(text, &documents) != nil || len(documents.Keys) != 2 || documents.Keys[1].ID != "key-b" || !strings.HasPrefix(resp.Header.Get("Cache-Control"), "public, max-age=29") {
		t.Errorf("%s %v %s", text, err, resp.Header)
	}
	s.setFailing(true)
	if _, err := requestToken(t, root, 3600); err == nil || !strings.Contains(err.Error(), "failed to generate token: while signing jwt: rpc error: code = Internal desc = the vault is closed") {
		t.Errorf("from a program that fails: %v", err)
	}
	if !accepted(second) {
		t.Error("a token of a program that fails now is refused")
	}
	s.setFailing(false)
	s.rotate(t, true)
	if _, err := requestToken(t, root, 3600); err == nil || !strings.Contains(err.Error(), "is excluded from OIDC discovery docs") {
		t.Errorf("by a hidden key: %v", err)
	}
	if sample(t, root.Discovery().RESTClient(), `apiserver_externaljwt_sign_request_total{code="OK"}`) < 2 {
		t.Error("the signatures are not counted")
	}
}

// TestExternalSignerErrors: the server does not start with a program that it cannot use.
func TestExternalSignerErrors(t *testing.T) {
	short, long := newExternalSigner(t, 60), newExternalSigner(t, 7200)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--service-account-signing-endpoint=" + short.socket}, "max token life supported by external-jwt-signer (60s) is less than acceptable (min 600s)"},
		{[]string{"--service-account-signing-endpoint=" + long.socket, "--service-account-max-token-expiration=3h"}, "service-account-max-token-expiration cannot be set longer than the token expiration supported by service-account-signing-endpoint: 3h0m0s > 2h0m0s"},
		{[]string{"--service-account-signing-endpoint=" + long.socket, "--service-account-signing-key-file=x"}, "mutually exclusive"},
	} {
		if err := startFails(t, c.args...); !strings.Contains(err, c.want) {
			t.Errorf("%q: %s, want %q", c.args, err, c.want)
		}
	}
}

func withBearer(t *testing.T, url, token string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = bearer(token)
	return req
}
