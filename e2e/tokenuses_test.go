package e2e

import (
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// TestTokenUses: the server counts the uses of service accounts' tokens: of those in Secrets, and of those of pods before and after the time at
// which a kubelet replaces them.
func TestTokenUses(t *testing.T) {
	p := up(t, t.TempDir(), "--in-memory", "--clock=virtual")
	defer p.stop()
	ctx, admin := t.Context(), p.clientset()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	use := func(token string) {
		t.Helper()
		c := rest.AnonymousClientConfig(p.config())
		c.BearerToken = token
		as, err := kubernetes.NewForConfig(c)
		must(err)
		_, err = as.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		must(err)
	}
	counted := func(want map[string]string) {
		t.Helper()
		text, err := admin.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
		must(err)
		for name, n := range want {
			if line := "\nserviceaccount_" + name + " " + n + "\n"; !strings.Contains(string(text), line) {
				t.Errorf("/metrics has no line %q", strings.TrimSpace(line))
			}
		}
	}
	p.clock("run", "--until=create", "serviceaccount/default")
	counted(map[string]string{"legacy_tokens_total": "0", "legacy_manual_token_uses_total": "0", "valid_tokens_total": "0", "stale_tokens_total": "0"})

	p.kubectlWithInput(`
apiVersion: v1
kind: Secret
type: kubernetes.io/service-account-token
metadata: {name: stored, annotations: {kubernetes.io/service-account.name: default}}
`, "create", "-f", "-")
	p.kubectl("wait", "--for=jsonpath={.data.token}", "secret/stored", "--timeout="+patience.String())
	secret, err := admin.CoreV1().Secrets("default").Get(ctx, "stored", metav1.GetOptions{})
	must(err)
	use(string(secret.Data[corev1.ServiceAccountTokenKey]))

	pod, err := admin.CoreV1().Pods("default").Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "holder"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}, metav1.CreateOptions{})
	must(err)
	seconds := int64(3607) // as the kubelet asks for
	request, err := admin.CoreV1().ServiceAccounts("default").CreateToken(ctx, "default", &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: &seconds, BoundObjectRef: &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID},
	}}, metav1.CreateOptions{})
	must(err)
	use(request.Status.Token)
	counted(map[string]string{"legacy_tokens_total": "1", "legacy_manual_token_uses_total": "1", "legacy_auto_token_uses_total": "0", "valid_tokens_total": "1", "stale_tokens_total": "0"})

	p.clock("advance", "2h")
	use(request.Status.Token)
	counted(map[string]string{"legacy_tokens_total": "1", "valid_tokens_total": "1", "stale_tokens_total": "1"})
}
