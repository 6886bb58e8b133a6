package policy_test

import (
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestConnect checks that policies apply to connections to pods, services and nodes before they are opened, with
// the client's options.
func TestConnect(t *testing.T) {
	const ns = "connect"
	c := start(t, ns)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "runs"}}
	if _, err := c.CoreV1().ServiceAccounts(ns).Create(background, account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	no := false
	if _, err := c.CoreV1().Pods(ns).Create(background, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{
		SchedulerName: "nobody", ServiceAccountName: "runs", AutomountServiceAccountToken: &no, Containers: []corev1.Container{{Name: "c", Image: "i"}},
	}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	fail := admissionv1.Fail
	policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "connects"}, Spec: admissionv1.ValidatingAdmissionPolicySpec{
		FailurePolicy: &fail,
		MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
			Operations: []admissionv1.OperationType{admissionv1.Connect},
			Rule: admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"},
				Resources: []string{"pods/exec", "pods/attach", "pods/portforward", "pods/proxy", "services/proxy", "nodes/proxy"}},
		}}}},
		Validations: []admissionv1.Validation{
			{Expression: "request.operation == 'CONNECT' && oldObject == null"},
			{Expression: "object.kind != 'PodExecOptions' || !('rm' in object.command)", Message: "no rm here"},
			{Expression: "object.kind != 'PodAttachOptions' || !has(object.tty)", MessageExpression: "'no terminal on ' + request.name + ' of ' + namespaceObject.metadata.name"},
			{Expression: "object.kind != 'PodPortForwardOptions' || !(22 in object.ports)"},
			{Expression: "!object.kind.endsWith('ProxyOptions') || !has(object.path) || !object.path.startsWith('/admin')", MessageExpression: "request.subResource + ' of ' + request.resource.resource + ' to ' + object.path"},
		},
	}}
	if _, err := c.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(background, policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "connects"},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "connects", ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}}}
	if _, err := c.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create(background, binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	settled()
	in, says := "/api/v1/namespaces/"+ns+"/", " is forbidden: ValidatingAdmissionPolicy 'connects' with binding 'connects' denied request: "
	for _, x := range []struct{ path, want string }{
		{in + "pods/p/exec?command=ls&container=c", "400 BadRequest: pod p does not have a host assigned"},
		{in + "pods/p/exec?command=rm&command=-r&container=c", `422 Invalid: pods "p"` + says + "no rm here"},
		{in + "pods/p/attach?container=c", "400 BadRequest: pod p does not have a host assigned"},
		{in + "pods/p/attach?container=c&tty=true", `422 Invalid: pods "p"` + says + "no terminal on p of connect"},
		{in + "pods/p/portforward?ports=80", "400 BadRequest: pod p does not have a host assigned"},
		{in + "pods/p/portforward?ports=22", `422 Invalid: pods "p"` + says + "failed expression: object.kind != 'PodPortForwardOptions' || !(22 in object.ports)"},
		{in + "pods/p:80/proxy/admin/users", `422 Invalid: pods "p:80"` + says + "proxy of pods to /admin/users"},
		{in + "services/s:web/proxy/admin", `422 Invalid: services "s:web"` + says + "proxy of services to /admin"},
		{in + "services/s:web/proxy/", `404 NotFound: services "s" not found`},
		{"/api/v1/nodes/nowhere/proxy/admin", `422 Invalid: nodes "nowhere"` + says + "proxy of nodes to /admin"},
	} {
		if got := outcome(c.CoreV1().RESTClient().Post().RequestURI(x.path).Do(background).Error()); got != x.want {
			t.Errorf("%s:\ngot  %s\nwant %s", x.path, got, x.want)
		}
	}
}
