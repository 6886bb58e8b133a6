package compat

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
)

// identityIssuer is an OpenID Connect issuer.
type identityIssuer struct {
	*httptest.Server
	key jose.JSONWebKey
}

func newIdentityIssuer(t *testing.T) *identityIssuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &identityIssuer{key: jose.JSONWebKey{Key: key, KeyID: "k", Algorithm: "RS256", Use: "sig"}}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(map[string]any{"issuer": i.URL, "jwks_uri": i.URL + "/keys"})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{i.key.Public()}})
	})
	i.Server = httptest.NewTLSServer(mux)
	t.Cleanup(i.Close)
	return i
}

type tokenClaims = map[string]any

// sign returns a token of jane, with other claims if more has any.
func (i *identityIssuer) sign(t *testing.T, more tokenClaims) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: i.key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := tokenClaims{"iss": i.URL, "aud": "a", "sub": "jane", "jti": "1", "exp": time.Now().Add(time.Hour).Unix(), "level": 2}
	maps.Copy(all, more)
	text, err := jwt.Signed(signer).Claims(all).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// identityFiles writes the two files and returns the flags.
func identityFiles(t *testing.T, issuer *identityIssuer, webhook string) []string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ca, err := json.Marshal(string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: issuer.Certificate().Raw})))
	if err != nil {
		t.Fatal(err)
	}
	authentication := write("authentication.yaml", fmt.Sprintf(`apiVersion: apiserver.config.k8s.io/v1beta1
kind: AuthenticationConfiguration
jwt:
- issuer: {url: %q, audiences: [a, b], audienceMatchPolicy: MatchAny, certificateAuthority: %s}
  claimValidationRules: [{expression: claims.level >= 2, message: the level is too low}]
  claimMappings:
    username: {expression: "'oidc:' + claims.sub"}
    groups: {expression: "has(claims.groups) ? claims.groups : ['guests']"}
    uid: {expression: "has(claims.uid) ? claims.uid : ''"}
    extra: [{key: example.com/level, valueExpression: string(claims.level)}]
  userValidationRules: [{expression: "!user.groups.exists(g, g.startsWith('system:'))", message: reserved group}]
anonymous: {enabled: true, conditions: [{path: /livez}]}
`, issuer.URL, ca))
	config := write("webhook.yaml", fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c}}], clusters: [{name: c, cluster: {server: %q}}]}`, webhook))
	hook := func(name, policy, condition string) string {
		return fmt.Sprintf(`{type: Webhook, name: %s, webhook: {connectionInfo: {type: KubeConfigFile, kubeConfigFile: %q}, subjectAccessReviewVersion: v1, matchConditionSubjectAccessReviewVersion: v1,
  matchConditions: [{expression: %q}], authorizedTTL: 1s, unauthorizedTTL: 1s, timeout: 3s, failurePolicy: %s}}`, name, config, condition, policy)
	}
	authorization := write("authorization.yaml", "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n- "+
		hook("first", "NoOpinion", "has(request.resourceAttributes) && request.resourceAttributes.namespace == 'decided'")+"\n- "+
		hook("fails", "Deny", "has(request.resourceAttributes) && request.resourceAttributes.namespace == 'failing'")+"\n- {type: Node, name: node}\n- {type: RBAC, name: rbac}\n")
	return []string{"--authentication-config=" + authentication, "--authorization-config=" + authorization}
}

// answerAccess answers SubjectAccessReviews: it denies secrets, has no opinion about pods, allows all else, and fails in one
// namespace.
func answerAccess(w http.ResponseWriter, r *http.Request) {
	var review authorizationv1.SubjectAccessReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Spec.ResourceAttributes.Namespace == "failing" {
		http.Error(w, "no answer", http.StatusBadRequest)
		return
	}
	switch review.Spec.ResourceAttributes.Resource {
	case "secrets":
		review.Status = authorizationv1.SubjectAccessReviewStatus{Denied: true, Reason: "secrets are secret"}
	case "pods":
		review.Status.Reason = "no opinion about pods"
	default:
		review.Status = authorizationv1.SubjectAccessReviewStatus{Allowed: true, Reason: "allowed by the webhook"}
	}
	w.Header().Set("Content-Type", asJSON)
	json.NewEncoder(w).Encode(review)
}

// sortRules sorts the rules of a review, whose order is that of a map in kube-apiserver.
func sortRules(body any) {
	review, _ := body.(map[string]any)
	status, _ := review["status"].(map[string]any)
	for _, key := range []string{"resourceRules", "nonResourceRules"} {
		rules, _ := status[key].([]any)
		slices.SortFunc(rules, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
}

// TestIdentity compares the answers of our server and of kube-apiserver with the same files of --authentication-config and
// --authorization-config.
func TestIdentity(t *testing.T) {
	issuer := newIdentityIssuer(t)
	webhook := httptest.NewServer(http.HandlerFunc(answerAccess))
	t.Cleanup(webhook.Close)
	const whoami, access, rules, tokens = "/apis/authentication.k8s.io/v1/selfsubjectreviews", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
		"/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", "/apis/authentication.k8s.io/v1/tokenreviews"
	const self = `{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`
	review := func(user, namespace, resource string) string {
		return fmt.Sprintf(`{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{"user":%q,"resourceAttributes":{"namespace":%q,"verb":"get","resource":%q,"version":"v1"}}}`, user, namespace, resource)
	}
	reviewed := func(token string) string {
		return fmt.Sprintf(`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":%q}}`, token)
	}
	jane, admin := issuer.sign(t, nil), adminToken
	requests := []struct{ name, token, method, path, body string }{
		{"a user of the issuer", jane, "POST", whoami, self},
		{"the other audience", issuer.sign(t, tokenClaims{"aud": []string{"x", "b"}, "jti": "2"}), "POST", whoami, self},
		{"groups and a UID", issuer.sign(t, tokenClaims{"groups": []string{"x", "y"}, "uid": "u", "jti": "3"}), "POST", whoami, self},
		{"another audience", issuer.sign(t, tokenClaims{"aud": "c"}), "POST", whoami, self},
		{"expired", issuer.sign(t, tokenClaims{"exp": time.Now().Add(-time.Hour).Unix()}), "POST", whoami, self},
		{"not valid yet", issuer.sign(t, tokenClaims{"nbf": time.Now().Add(time.Hour).Unix()}), "POST", whoami, self},
		{"a low level", issuer.sign(t, tokenClaims{"level": 1}), "POST", whoami, self},
		{"a reserved group", issuer.sign(t, tokenClaims{"groups": []string{"system:masters"}}), "POST", whoami, self},
		{"another issuer", issuer.sign(t, tokenClaims{"iss": "https://example.com"}), "POST", whoami, self},
		{"no token", "x.y.z", "POST", whoami, self},
		{"without credentials", "", "POST", whoami, self},
		{"without credentials at an allowed path", "", "GET", "/livez", ""},
		{"without credentials at another path", "", "GET", "/readyz", ""},
		{"a review of a token", admin, "POST", tokens, reviewed(jane)},
		{"a review of an invalid token", admin, "POST", tokens, reviewed(issuer.sign(t, tokenClaims{"level": 1}))},
		{"allowed by the webhook", jane, "GET", "/api/v1/namespaces/decided/configmaps", ""},
		{"denied by the webhook", jane, "GET", "/api/v1/namespaces/decided/secrets", ""},
		{"denied to system:masters", admin, "GET", "/api/v1/namespaces/decided/secrets", ""},
		{"no opinion", jane, "GET", "/api/v1/namespaces/decided/pods", ""},
		{"not matched", jane, "GET", "/api/v1/namespaces/default/configmaps", ""},
		{"no resource", jane, "GET", "/metrics", ""},
		{"a failing webhook", jane, "GET", "/api/v1/namespaces/failing/configmaps", ""},
		{"reviewed: allowed", admin, "POST", access, review("jane", "decided", "configmaps")},
		{"reviewed: denied", admin, "POST", access, review("jane", "decided", "secrets")},
		{"reviewed: no opinion", admin, "POST", access, review("jane", "decided", "pods")},
		{"reviewed: failing", admin, "POST", access, review("jane", "failing", "pods")},
		{"reviewed: system:masters", admin, "POST", access, strings.Replace(review("jane", "decided", "secrets"), `"user"`, `"groups":["system:masters"],"user"`, 1)},
		{"rules", jane, "POST", rules, `{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectRulesReview","spec":{"namespace":"default"}}`},
	}
	var answers [2][]any
	for i, start := range []func(*testing.T, ...string) upstream{startUpstream, startOurs} {
		server := start(t, identityFiles(t, issuer, webhook.URL)...)
		at := server.clients.CoreV1().RESTClient().Get().URL()
		send := func(method, path, token, body string) (int, any) {
			req, err := http.NewRequestWithContext(t.Context(), method, at.Scheme+"://"+at.Host+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if token != "" {
				req.Header.Set("Authorization", "Bearer "+token)
			}
			if body != "" {
				req.Header.Set("Content-Type", asJSON)
			}
			resp, err := insecure.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			var decoded any
			if json.Unmarshal(text, &decoded) != nil {
				decoded = string(text)
			}
			return resp.StatusCode, steady("", decoded)
		}
		for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) { // until the issuer has been asked for its keys
			if code, _ := send("POST", whoami, jane, self); code == http.StatusCreated {
				break
			}
			if time.Now().After(end) {
				t.Fatal("the issuer's tokens are not accepted")
			}
		}
		for _, r := range requests {
			code, body := send(r.method, r.path, r.token, r.body)
			sortRules(body)
			answers[i] = append(answers[i], []any{code, body})
		}
	}
	for i, r := range requests {
		if diff := cmp.Diff(answers[0][i], answers[1][i]); diff != "" {
			t.Errorf("%s (-kube-apiserver +fairlead):\n%s", r.name, diff)
		}
	}
}
