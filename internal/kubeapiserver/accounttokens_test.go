package kubeapiserver_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// podToken requests the token of a new pod, and returns how many seconds it is valid.
func podToken(t *testing.T, c *kubernetes.Clientset) int64 {
	t.Helper()
	if _, err := c.CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pod, err := makePod(t, c, "default", "p", func(p *corev1.Pod) { p.Spec.ServiceAccountName = "robot" })
	if err != nil {
		t.Fatal(err)
	}
	made, err := c.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "robot", &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: ptr.To[int64](3607), BoundObjectRef: &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(made.Status.Token, ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	var claims struct{ Exp, Iat int64 }
	if err := json.Unmarshal(payload, &claims); err != nil {
		t.Fatal(err)
	}
	return claims.Exp - claims.Iat
}

// TestTokenExtension: the tokens of pods are valid for a year, or, if the flag is false, for the time that they were requested for.
func TestTokenExtension(t *testing.T) {
	for flag, want := range map[string]int64{"--service-account-extend-token-expiration=false": 3607, "--service-account-extend-token-expiration": 365 * 24 * 3600} {
		if got := podToken(t, start(t, flag)("root-token")); got != want {
			t.Errorf("%s: the token is valid for %d seconds, want %d", flag, got, want)
		}
	}
}

// TestJWKSURI reads where the OpenID configuration has the keys.
func TestJWKSURI(t *testing.T) {
	base := host(start(t, "--service-account-jwks-uri=https://keys.example/jwks")("root-token"))
	_, text := send(t, browser(t, true), http.MethodGet, base+"/.well-known/openid-configuration", nil, nil)
	var configuration struct {
		URI string `json:"jwks_uri"`
	}
	if err := json.Unmarshal([]byte(text), &configuration); err != nil || configuration.URI != "https://keys.example/jwks" {
		t.Errorf("%v: %s", err, text)
	}
	if got := startFails(t, "--service-account-jwks-uri=http://keys.example/jwks"); !strings.Contains(got, "service-account-jwks-uri requires https scheme, parsed as: http://keys.example/jwks") {
		t.Error(got)
	}
}

// TestGarbageCollectorFlag: without a garbage collector, a delete in the foreground deletes at once.
func TestGarbageCollectorFlag(t *testing.T) {
	for flag, stays := range map[string]bool{"--enable-garbage-collector=false": false, "--enable-garbage-collector": true} {
		root := start(t, flag)("root-token")
		if err := makeConfigMap(t, root, "c", "v"); err != nil {
			t.Fatal(err)
		}
		if err := root.CoreV1().ConfigMaps("default").Delete(t.Context(), "c", metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationForeground)}); err != nil {
			t.Fatal(err)
		}
		_, err := root.CoreV1().ConfigMaps("default").Get(t.Context(), "c", metav1.GetOptions{})
		if (err == nil) != stays || err != nil && !apierrors.IsNotFound(err) {
			t.Errorf("%s: %v", flag, err)
		}
	}
}
