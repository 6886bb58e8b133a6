package kubeapiserver_test

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	imagepolicyv1alpha1 "k8s.io/api/imagepolicy/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// imageServer allows the images of "good", and records the reviews.
type imageServer struct {
	*httptest.Server
	mu      sync.Mutex
	reviews []imagepolicyv1alpha1.ImageReview
}

func newImageServer(t *testing.T) *imageServer {
	t.Helper()
	s := &imageServer{}
	s.Server = httptest.NewTLSServer(s)
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP implements http.Handler.
func (s *imageServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review imagepolicyv1alpha1.ImageReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || r.Header.Get("Authorization") != "Bearer mine" {
		http.Error(w, "no review of this server", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.reviews = append(s.reviews, review)
	s.mu.Unlock()
	image := review.Spec.Containers[0].Image
	switch {
	case strings.HasPrefix(image, "fails"):
		http.Error(w, "out of order", http.StatusNotFound)
		return
	case strings.HasPrefix(image, "good"):
		review.Status.Allowed = true
	case strings.HasPrefix(image, "bad"):
		review.Status.Reason = "too old"
	}
	review.Status.AuditAnnotations = map[string]string{"seen": image}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(review)
}

func (s *imageServer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.reviews)
}

// kubeconfigFor writes a kubeconfig for a server of TLS, with a token.
func kubeconfigFor(t *testing.T, s *httptest.Server, token string) string {
	t.Helper()
	ca := writeFile(t, t.TempDir(), "ca.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
	return writeFile(t, t.TempDir(), "kubeconfig", `{"apiVersion": "v1", "kind": "Config", "current-context": "c",
"clusters": [{"name": "c", "cluster": {"server": "`+s.URL+`", "certificate-authority": "`+ca+`"}}],
"users": [{"name": "u", "user": {"token": "`+token+`"}}],
"contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}`)
}

// TestImagePolicyWebhook creates pods with images that a server allows and denies.
func TestImagePolicyWebhook(t *testing.T) {
	images := newImageServer(t)
	log := filepath.Join(t.TempDir(), "audit.log")
	policy := writeFile(t, t.TempDir(), "policy.yaml", `{"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": "Metadata", "resources": [{"resources": ["pods"]}]}]}`)
	run := func(t *testing.T, defaultAllow string) func(name, image string, annotations map[string]string) (*corev1.Pod, error) {
		as := start(t, "--enable-admission-plugins=ImagePolicyWebhook", "--disable-admission-plugins=ServiceAccount", "--audit-policy-file="+policy, "--audit-log-path="+log,
			// the old form of the file, without AdmissionConfiguration
			"--admission-control-config-file="+writeFile(t, t.TempDir(), "a.yaml", "imagePolicy: {kubeConfigFile: "+kubeconfigFor(t, images.Server, "mine")+", retryBackoff: 1, defaultAllow: "+defaultAllow+"}"))
		return func(name, image string, annotations map[string]string) (*corev1.Pod, error) {
			return makePod(t, as("root-token"), "default", name, func(p *corev1.Pod) { p.Spec.Containers[0].Image, p.Annotations = image, annotations })
		}
	}
	t.Run("closed", func(t *testing.T) {
		create := run(t, "false")
		if _, err := create("good", "good:1", map[string]string{"a.image-policy.k8s.io/ticket": "7", "other": "x"}); err != nil {
			t.Errorf("a good image: %v", err)
		}
		first := images.reviews[0]
		if first.APIVersion != "imagepolicy.k8s.io/v1alpha1" || first.Kind != "ImageReview" || first.Spec.Namespace != "default" || len(first.Spec.Annotations) != 1 {
			t.Errorf("the review is %+v", first)
		}
		for name, want := range map[string]string{
			"bad":     `pods "bad" is forbidden: image policy webhook backend denied one or more images: too old`,
			"unknown": `pods "unknown" is forbidden: one or more images rejected by webhook backend`,
		} {
			if _, err := create(name, name+":1", nil); message(err) != want {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := create("fails", "fails:1", nil); !strings.HasPrefix(message(err), `pods "fails" is forbidden: `) {
			t.Errorf("a failure: %v", err)
		}
		before := images.count()
		if _, err := create("bad", "bad:1", nil); err == nil || images.count() != before {
			t.Errorf("asked again for an image: %v, %d more reviews", err, images.count()-before)
		}
	})
	t.Run("open", func(t *testing.T) {
		if pod, err := run(t, "true")("open", "fails:2", nil); err != nil || pod.Annotations["alpha.image-policy.k8s.io/failed-open"] != "true" {
			t.Errorf("a failure: %v %v", err, pod.Annotations)
		}
	})
	annotations := map[string]string{}
	for _, e := range eventsIn(t, log) {
		for key, value := range e.Annotations {
			annotations[e.ObjectRef.Name+" "+key] = value
		}
	}
	for key, want := range map[string]string{
		"open imagepolicywebhook.image-policy.k8s.io/failed-open": "true",
		"good imagepolicywebhook.image-policy.k8s.io/seen":        "good:1",
	} {
		if annotations[key] != want {
			t.Errorf("the annotation %s is %q in %v", key, annotations[key], annotations)
		}
	}
}

// TestWebhookCredentials: the server authenticates to a webhook by the user whose name is the webhook's host.
func TestWebhookCredentials(t *testing.T) {
	tokens := make(chan string, 10)
	hook := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tokens <- r.Header.Get("Authorization")
		var review admissionv1.AdmissionReview
		json.NewDecoder(r.Body).Decode(&review)
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
		json.NewEncoder(w).Encode(review)
	}))
	t.Cleanup(hook.Close)
	host := strings.TrimPrefix(hook.URL, "https://")
	users := writeFile(t, t.TempDir(), "kubeconfig", `{"apiVersion": "v1", "kind": "Config", "users": [
{"name": "`+host+`", "user": {"token": "for-the-hook"}}, {"name": "*", "user": {"token": "for-others"}}]}`)
	root := start(t, "--admission-control-config-file="+admissionFile(t, `
- name: ValidatingAdmissionWebhook
  configuration: {apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, kubeConfigFile: `+users+`}
`))("root-token")
	_, err := root.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "v"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "v.example.com", SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &hook.URL, CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hook.Certificate().Raw})},
			Rules: []admissionregistrationv1.RuleWithOperations{{Operations: []admissionregistrationv1.OperationType{"CREATE"},
				Rule: admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}}}},
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the webhook's call", func() bool {
		if err := makeConfigMap(t, root, "c"+metav1.Now().Format("150405.000000"), "v"); err != nil {
			t.Error(err)
		}
		return len(tokens) > 0
	})
	if got := <-tokens; got != "Bearer for-the-hook" {
		t.Errorf("the webhook is called with %q", got)
	}
}
