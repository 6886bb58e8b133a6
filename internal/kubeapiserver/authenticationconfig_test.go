package kubeapiserver_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// authenticationConfig returns an AuthenticationConfiguration with the issuers and other fields.
func authenticationConfig(t *testing.T, more map[string]any, jwt ...map[string]any) []byte {
	t.Helper()
	all := map[string]any{"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration", "jwt": jwt}
	for k, v := range more {
		all[k] = v
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// jwtOf returns the configuration of an issuer whose users have names with the prefix.
func jwtOf(i *issuer, prefix string) map[string]any {
	return map[string]any{
		"issuer":        map[string]any{"url": i.URL, "audiences": []string{"kubernetes"}, "certificateAuthority": i.ca},
		"claimMappings": map[string]any{"username": map[string]any{"claim": "sub", "prefix": prefix}},
	}
}

// TestAuthenticationConfig: users of several issuers are made by expressions, and requests without credentials are allowed at
// some paths.
func TestAuthenticationConfig(t *testing.T) {
	first, second, log := newIssuer(t), newIssuer(t), recordLog(t)
	byExpression := map[string]any{
		"issuer": map[string]any{"url": second.URL, "audiences": []string{"kubernetes", "other"}, "audienceMatchPolicy": "MatchAny", "certificateAuthority": second.ca},
		"claimMappings": map[string]any{
			"username": map[string]any{"expression": "claims.mail"},
			"groups":   map[string]any{"expression": "claims.roles.split(',').map(r, 'role:' + r)"},
			"uid":      map[string]any{"expression": "claims.sub"},
			"extra":    []any{map[string]any{"key": "example.com/site", "valueExpression": "claims.site"}},
		},
		"claimValidationRules": []any{map[string]any{"expression": "claims.level >= 2", "message": "the level is too low"}},
		"userValidationRules":  []any{map[string]any{"expression": "!user.username.startsWith('system:')", "message": "reserved name"}},
	}
	config := filepath.Join(t.TempDir(), "authentication.yaml")
	replace(t, config, authenticationConfig(t, map[string]any{"anonymous": map[string]any{"enabled": true, "conditions": []any{map[string]any{"path": "/livez"}}}}, jwtOf(first, "first:"), byExpression))
	as := start(t, "--authorization-mode=RBAC", "--authentication-config="+config)
	url, client := host(as("")), httpClient(t, nil, "")
	eventually(t, "both issuers are asked for their keys", func() bool {
		a, user, _ := whoami(t, client, url, bearer(first.sign(t, nil)))
		b, _, _ := whoami(t, client, url, bearer(second.sign(t, claims{"mail": "x", "roles": "a", "site": "s", "level": 2})))
		return a == http.StatusCreated && b == http.StatusCreated && user.Username == "first:ann"
	})
	bob := claims{"mail": "bob@example.com", "roles": "a,b", "site": "s", "level": 3, "aud": "other", "jti": "t-2"}
	want := authenticationv1.UserInfo{
		Username: "bob@example.com", UID: "ann", Groups: []string{"role:a", "role:b", "system:authenticated"},
		Extra: map[string]authenticationv1.ExtraValue{"example.com/site": {"s"}, "authentication.kubernetes.io/credential-id": {"JTI=t-2"}},
	}
	if _, user, body := whoami(t, client, url, bearer(second.sign(t, bob))); !reflect.DeepEqual(user, want) {
		t.Errorf("%+v %s, want %+v", user, body, want)
	}
	for reason, more := range map[string]claims{
		"the level is too low": {"mail": "bob", "roles": "a", "site": "s", "level": 1},
		"reserved name":        {"mail": "system:bob", "roles": "a", "site": "s", "level": 2},
		"no such key: mail":    {"roles": "a", "site": "s", "level": 2},
	} {
		if code, _, _ := whoami(t, client, url, bearer(second.sign(t, more))); code != http.StatusUnauthorized || !strings.Contains(log(), reason) {
			t.Errorf("%d, the log has no %q:\n%s", code, reason, log())
		}
	}
	get := func(path string) error {
		_, err := as("").Discovery().RESTClient().Get().AbsPath(path).DoRaw(t.Context())
		return err
	}
	if err := get("/livez"); err != nil {
		t.Errorf("/livez without credentials: %v", err)
	}
	if err := get("/readyz"); !apierrors.IsUnauthorized(err) {
		t.Errorf("/readyz without credentials: %v", err)
	}
}

// TestAuthenticationConfigReload: the file of a running server can be replaced; one that cannot be used leaves the former
// one in force.
func TestAuthenticationConfigReload(t *testing.T) {
	first, second := newIssuer(t), newIssuer(t)
	config := filepath.Join(t.TempDir(), "authentication.yaml")
	replace(t, config, authenticationConfig(t, nil, jwtOf(first, "")))
	as := start(t, "--authorization-mode=RBAC", "--authentication-config="+config)
	root, url, client := as("root-token").Discovery().RESTClient(), host(as("")), httpClient(t, nil, "")
	accepts := func(i *issuer) bool {
		code, _, _ := whoami(t, client, url, bearer(i.sign(t, nil)))
		return code == http.StatusCreated
	}
	failures := func() float64 {
		return sample(t, root, `fairlead_config_reloads_total{config="authentication",result="failure"}`)
	}
	eventually(t, "the first issuer is asked for its keys", func() bool { return accepts(first) })
	if accepts(second) {
		t.Error("an issuer that is not in the file")
	}
	replace(t, config, authenticationConfig(t, nil, jwtOf(second, "")))
	eventually(t, "the second issuer is accepted", func() bool { return accepts(second) })
	if accepts(first) {
		t.Error("an issuer that is no longer in the file")
	}
	for title, text := range map[string][]byte{
		"a broken file":             []byte("{"),
		"another kind":              []byte(`{"apiVersion":"apiserver.config.k8s.io/v1","kind":"EncryptionConfiguration"}`),
		"an unknown field":          authenticationConfig(t, map[string]any{"jwts": 1}, jwtOf(first, "")),
		"other anonymous requests":  authenticationConfig(t, map[string]any{"anonymous": map[string]any{"enabled": false}}, jwtOf(first, "")),
		"an issuer with two parts":  authenticationConfig(t, nil, jwtOf(first, ""), jwtOf(first, "")),
		"an issuer of its accounts": authenticationConfig(t, nil, map[string]any{"issuer": map[string]any{"url": "https://kubernetes.default.svc.cluster.local", "audiences": []string{"a"}}, "claimMappings": map[string]any{"username": map[string]any{"claim": "sub", "prefix": ""}}}),
	} {
		before := failures()
		replace(t, config, text)
		eventually(t, title+" is counted", func() bool { return failures() > before })
		if accepts(first) || !accepts(second) {
			t.Errorf("%s replaced the former one", title)
		}
	}
	replace(t, config, authenticationConfig(t, nil, jwtOf(first, ""), jwtOf(second, "")))
	eventually(t, "both issuers are accepted", func() bool { return accepts(first) && accepts(second) })
	metrics, err := root.Get().AbsPath("/metrics").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"apiserver_authentication_config_controller_automatic_reloads_total", "apiserver_authentication_config_controller_last_config_info", "apiserver_authentication_jwt_authenticator_latency_seconds"} {
		if !strings.Contains(string(metrics), "\n"+name) {
			t.Errorf("/metrics has no %s", name)
		}
	}
}

// TestIssuerComesLate: the server starts without its issuer, whose tokens count once it answers.
func TestIssuerComesLate(t *testing.T) {
	i := newIssuer(t)
	i.setDown(true)
	as := start(t, "--oidc-issuer-url="+i.URL, "--oidc-client-id=kubernetes", "--oidc-ca-file="+i.caFile)
	url, client := host(as("")), httpClient(t, nil, "")
	if code, _, _ := whoami(t, client, url, bearer(i.sign(t, nil))); code != http.StatusUnauthorized {
		t.Errorf("a token of an issuer that is down: %d", code)
	}
	i.setDown(false)
	eventually(t, "the issuer's tokens are accepted", func() bool {
		code, _, _ := whoami(t, client, url, bearer(i.sign(t, nil)))
		return code == http.StatusCreated
	})
}

// TestAuthenticationConfigErrors: a server with a file or flags that cannot be used does not start.
func TestAuthenticationConfigErrors(t *testing.T) {
	i := newIssuer(t)
	write := func(text []byte) string {
		path := filepath.Join(t.TempDir(), "authentication.yaml")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return "--authentication-config=" + path
	}
	valid := write(authenticationConfig(t, map[string]any{"anonymous": map[string]any{"enabled": true}}, jwtOf(i, "")))
	insecure := jwtOf(i, "")
	insecure["issuer"] = map[string]any{"url": "http://example.com", "audiences": []string{"a"}}
	expression := jwtOf(i, "")
	expression["claimMappings"] = map[string]any{"username": map[string]any{"expression": "claims."}}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--authentication-config=" + filepath.Join(t.TempDir(), "absent")}, "failed to load authentication configuration from file"},
		{[]string{write(nil)}, "empty config data"},
		{[]string{write([]byte("kind: x"))}, "failed to load authentication configuration from file"},
		{[]string{write(authenticationConfig(t, nil, insecure))}, "jwt[0].issuer.url: Invalid value: \"http://example.com\": URL scheme must be https"},
		{[]string{write(authenticationConfig(t, nil, expression))}, "jwt[0].claimMappings.username.expression: Invalid value"},
		{[]string{valid, "--oidc-issuer-url=https://example.com"}, "authentication-config file and oidc-* flags are mutually exclusive"},
		{[]string{valid, "--anonymous-auth"}, "--anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file"},
		{[]string{"--oidc-issuer-url=https://example.com"}, "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set"},
		{[]string{"--oidc-issuer-url=http://example.com", "--oidc-client-id=a"}, "URL scheme must be https"},
		{[]string{"--oidc-issuer-url=https://example.com", "--oidc-client-id=a", "--oidc-signing-algs=HS256"}, `oidc: unsupported signing alg: "HS256"`},
		{[]string{"--oidc-issuer-url=https://example.com", "--oidc-client-id=a", "--oidc-ca-file=" + filepath.Join(t.TempDir(), "absent")}, "no such file"},
	} {
		if err := startFails(t, c.args...); !strings.Contains(err, c.want) {
			t.Errorf("%q: %s, want %q", c.args, err, c.want)
		}
	}
}
