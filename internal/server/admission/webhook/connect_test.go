package webhook_test

import (
	"encoding/json"
	"strings"
	"testing"

	reviewv1 "k8s.io/api/admission/v1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestConnect checks that webhooks are called for connections to pods, services and nodes before they are opened,
// and that changed options take effect.
func TestConnect(t *testing.T) {
	w := start(t)
	w.namespace(t, "connect")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{
		SchedulerName: "nobody", Containers: []corev1.Container{{Name: "c", Image: "i"}, {Name: "d", Image: "i"}},
	}}
	if *kubeconfig != "" { // service accounts are not created there
		no := false
		pod.Spec.AutomountServiceAccountToken = &no
		if _, err := w.CoreV1().ServiceAccounts("connect").Create(background, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	w.pod(t, pod)
	connect := func() []admissionv1.RuleWithOperations {
		r := rules("", "v1", "pods/exec", "pods/attach", "pods/portforward", "pods/proxy", "services/proxy", "nodes/proxy")
		r[0].Operations = []admissionv1.OperationType{admissionv1.Connect}
		return r
	}
	w.hooks.says("m", func(q *reviewv1.AdmissionRequest, a *reviewv1.AdmissionResponse) {
		if o := (corev1.PodExecOptions{}); q.SubResource == "exec" && json.Unmarshal(q.Object.Raw, &o) == nil && o.Container == "other" {
			patch(a, `[{"op":"replace","path":"/container","value":"ghost"}]`)
		}
	})
	w.hooks.says("v", func(q *reviewv1.AdmissionRequest, a *reviewv1.AdmissionResponse) {
		if strings.Contains(string(q.Object.Raw), "forbidden") {
			a.Allowed, a.Result = false, &metav1.Status{Message: "not here", Code: 403, Reason: metav1.StatusReasonForbidden}
		}
	})
	w.mutating(t, "cm.example.com", w.mutate("m", "connect", func(h *admissionv1.MutatingWebhook) { h.Rules = connect() }))
	w.validating(t, "cv.example.com", w.validate("v", "connect", func(h *admissionv1.ValidatingWebhook) { h.Rules = connect() }))

	in := "/api/v1/namespaces/connect/"
	for _, c := range []struct{ path, kind, resource, sub, name, object, want string }{
		{in + "pods/p/exec?command=sh&command=-c&container=c&stdin=true", "PodExecOptions", "pods", "exec", "p",
			`{"kind":"PodExecOptions","apiVersion":"v1","stdin":true,"container":"c","command":["sh","-c"]}`, "pod p does not have a host assigned"},
		{in + "pods/p/exec?command=forbidden&container=c", "PodExecOptions", "pods", "exec", "p",
			`{"kind":"PodExecOptions","apiVersion":"v1","container":"c","command":["forbidden"]}`, `admission webhook "v.example.com" denied the request: not here`},
		{in + "pods/p/exec?command=sh&container=other", "PodExecOptions", "pods", "exec", "p",
			`{"kind":"PodExecOptions","apiVersion":"v1","container":"ghost","command":["sh"]}`, "container ghost is not valid for pod p"},
		{in + "pods/p/attach?container=d&tty=1", "PodAttachOptions", "pods", "attach", "p",
			`{"kind":"PodAttachOptions","apiVersion":"v1","tty":true,"container":"d"}`, "pod p does not have a host assigned"},
		{in + "pods/p/portforward?ports=80,81", "PodPortForwardOptions", "pods", "portforward", "p",
			`{"kind":"PodPortForwardOptions","apiVersion":"v1","ports":[80,81]}`, "pod p does not have a host assigned"},
		{in + "pods/http:p:80/proxy/a/b/", "PodProxyOptions", "pods", "proxy", "http:p:80",
			`{"kind":"PodProxyOptions","apiVersion":"v1","path":"/a/b/"}`, "address not allowed"},
		{in + "services/s:web/proxy", "ServiceProxyOptions", "services", "proxy", "s:web",
			`{"kind":"ServiceProxyOptions","apiVersion":"v1"}`, `services "s" not found`},
		{"/api/v1/nodes/nowhere:10250/proxy/pods", "NodeProxyOptions", "nodes", "proxy", "nowhere:10250",
			`{"kind":"NodeProxyOptions","apiVersion":"v1","path":"/pods"}`, `nodes "nowhere" not found`},
		{in + "pods/p/exec?command=sh&dryRun=All", "", "", "", "", "", "dryRun is not supported"},
	} {
		w.hooks.forget("v")
		err := w.CoreV1().RESTClient().Post().RequestURI(c.path).Do(background).Error()
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.path, err, c.want)
		}
		asked := w.hooks.asked("v")
		if c.kind == "" {
			if len(asked) != 0 {
				t.Errorf("%s was asked about", c.path)
			}
			continue
		}
		if len(asked) != 1 {
			t.Errorf("%s was asked about %d times", c.path, len(asked))
			continue
		}
		q := asked[0]
		kind, gvr := metav1.GroupVersionKind{Version: "v1", Kind: c.kind}, metav1.GroupVersionResource{Version: "v1", Resource: c.resource}
		if q.Operation != reviewv1.Connect || q.Kind != kind || q.Resource != gvr || q.SubResource != c.sub || q.Name != c.name ||
			*q.RequestKind != kind || q.RequestSubResource != c.sub || (q.Namespace == "") != (c.resource == "nodes") ||
			len(q.OldObject.Raw) > 4 || len(q.Options.Raw) > 4 || *q.DryRun {
			t.Errorf("%s: %+v", c.path, q)
		}
		if string(q.Object.Raw) != c.object {
			t.Errorf("%s: the object is %s, want %s", c.path, q.Object.Raw, c.object)
		}
	}
}

// pod creates a pod once its namespace has a service account.
func (w *world) pod(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	accounts, err := w.CoreV1().ServiceAccounts("connect").Watch(background, metav1.ListOptions{FieldSelector: "metadata.name=default"})
	if err != nil {
		t.Fatal(err)
	}
	defer accounts.Stop()
	<-accounts.ResultChan()
	if _, err := w.CoreV1().Pods("connect").Create(background, pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}
