package policy_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"fairlead.dev/testenv"
)

// The tests can also run against a real kube-apiserver.
var kubeconfig = flag.String("kubeconfig", "", "run the tests against this API server in place of our own")

var background = context.Background()

func start(t *testing.T, namespace string) *kubernetes.Clientset {
	t.Helper()
	if *kubeconfig == "" {
		return with(t, kubernetes.NewForConfigOrDie(testenv.New(t, testenv.Options{}).Config()), namespace)
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	return with(t, kubernetes.NewForConfigOrDie(config), namespace)
}

func with(t *testing.T, c *kubernetes.Clientset, namespace string) *kubernetes.Clientset {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: map[string]string{"in": namespace, "team": "red"}}}
	if _, err := c.CoreV1().Namespaces().Create(background, ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return c
}

// settled waits if policies only take effect after a while.
func settled() {
	if *kubeconfig != "" {
		time.Sleep(2 * time.Second)
	}
}

func outcome(err error) string {
	var s *apierrors.StatusError
	switch {
	case err == nil:
		return "ok"
	case !errors.As(err, &s):
		return err.Error()
	}
	return fmt.Sprintf("%d %s: %s", s.ErrStatus.Code, s.ErrStatus.Reason, s.ErrStatus.Message)
}

func read[T any](t *testing.T, text string) *T {
	t.Helper()
	out := new(T)
	if err := yaml.UnmarshalStrict([]byte(text), out); err != nil {
		t.Fatal(err)
	}
	return out
}

// match returns the constraints of policies in these tests.
func match(namespace string) *admissionv1.MatchResources {
	return &admissionv1.MatchResources{
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"in": namespace}},
		ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
			Operations: []admissionv1.OperationType{"CREATE", "UPDATE"},
			Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
		}}},
	}
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "x"}}, Data: map[string]string{"a": "b"}}
}

func TestValidating(t *testing.T) {
	const ns = "validating"
	c := start(t, ns)
	limits := configMap("limits")
	limits.Data["max"] = "1"
	if _, err := c.CoreV1().ConfigMaps(ns).Create(background, limits, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	says := func(text string) string {
		return `422 Invalid: configmaps "c" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: ` + text
	}
	for _, x := range []struct{ name, policy, binding, want string }{
		{"passes", `{validations: [{expression: "object.data.a == 'b'"}]}`, ``, "ok"},
		{"fails", `{validations: [{expression: " object.data.a == 'c' "}]}`, ``, says("failed expression: object.data.a == 'c'")},
		{"a message", `{validations: [{expression: "false", message: "no way"}]}`, ``, says("no way")},
		{"a computed message", `{validations: [{expression: "false", message: "no way", messageExpression: "'not ' + object.metadata.name + ' in ' + namespaceObject.metadata.labels.team"}]}`, ``, says("not c in red")},
		{"a message that fails", `{validations: [{expression: "false", message: "no way", messageExpression: "string(object.spec.x)"}]}`, ``, says("no way")},
		{"a reason", `{validations: [{expression: "false", reason: Forbidden}]}`, ``, strings.Replace(says("failed expression: false"), "422 Invalid", "403 Forbidden", 1)},
		{"an error", `{validations: [{expression: "object.spec.x == 1"}]}`, ``, says("expression 'object.spec.x == 1' resulted in error: no such key: spec")},
		{"an ignored error", `{failurePolicy: Ignore, validations: [{expression: "object.spec.x == 1"}]}`, ``, "ok"},
		{"an ignored error, a fault", `{failurePolicy: Ignore, validations: [{expression: "object.spec.x == 1"},{expression: "false"}]}`, ``, says("failed expression: false")},
		{"variables", `{variables: [{name: size, expression: "size(object.data)"},{name: m, expression: "variables.size + 1"}], validations: [{expression: "variables.m == 3", messageExpression: "'it is ' + string(variables.m)"}]}`, ``, says("it is 2")},
		{"a condition", `{matchConditions: [{name: c, expression: "request.name != 'c'"}], validations: [{expression: "false"}]}`, ``, "ok"},
		{"a condition that fails", `{matchConditions: [{name: c, expression: "object.spec.x == 1"}], validations: [{expression: "false"}]}`, ``, says("expression 'object.spec.x == 1' resulted in error: no such key: spec")},
		{"the request", `{validations: [{expression: "request.operation == 'CREATE' && request.dryRun && request.resource.resource == 'configmaps' && oldObject == null && request.userInfo.groups.exists(g, g == 'system:authenticated') && request.options.kind == 'CreateOptions'"}]}`, ``, "ok"},
		{"the authorizer", `{validations: [{expression: "authorizer.requestResource.check('create').allowed() && !authorizer.serviceAccount('x', 'y').group('').resource('nodes').check('delete').allowed()"}]}`, ``, "ok"},
		{"a parameter", `{paramKind: {apiVersion: v1, kind: ConfigMap}, validations: [{expression: "size(object.data) > int(params.data.max)", messageExpression: "string(params.kind + params.metadata.name)"}]}`,
			`{paramRef: {name: limits, parameterNotFoundAction: Deny}}`, says("ConfigMaplimits")},
		{"selected parameters", `{paramKind: {apiVersion: v1, kind: ConfigMap}, validations: [{expression: "params.metadata.name != 'limits'"}]}`,
			`{paramRef: {selector: {matchLabels: {app: x}}, parameterNotFoundAction: Deny}}`, says("failed expression: params.metadata.name != 'limits'")},
		{"no parameter", `{paramKind: {apiVersion: v1, kind: ConfigMap}, validations: [{expression: "false"}]}`,
			`{paramRef: {name: none, parameterNotFoundAction: Deny}}`, says("failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction")},
		{"no parameter, allowed", `{paramKind: {apiVersion: v1, kind: ConfigMap}, validations: [{expression: "false"}]}`,
			`{paramRef: {name: none, parameterNotFoundAction: Allow}}`, "ok"},
		{"an unknown kind", `{paramKind: {apiVersion: example.com/v1, kind: Thing}, validations: [{expression: "false"}]}`,
			`{paramRef: {name: none, parameterNotFoundAction: Allow}}`,
			`422 Invalid: configmaps "c" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Thing'`},
		{"warned", `{validations: [{expression: "false"}]}`, `{validationActions: [Warn]}`, "ok"},
		{"audited", `{validations: [{expression: "false"}]}`, `{validationActions: [Audit]}`, "ok"},
		{"an annotation that fails", `{auditAnnotations: [{key: k, valueExpression: "string(object.spec.x)"}]}`, ``, says("expression 'string(object.spec.x)' resulted in error: no such key: spec")},
		{"elsewhere", `{validations: [{expression: "false"}]}`, `{matchResources: {namespaceSelector: {matchLabels: {in: elsewhere}}}}`, "ok"},
		{"excluded", `{validations: [{expression: "false"}]}`, `{matchResources: {excludeResourceRules: [{resourceNames: [c], operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"]}]}}`, "ok"},
		{"too costly", `{validations: [{expression: "'a'.matches('a') && [1,2,3,4,5,6,7,8,9,10].all(a,[1,2,3,4,5,6,7,8,9,10].all(b,[1,2,3,4,5,6,7,8,9,10].all(c,[1,2,3,4,5,6,7,8,9,10].all(d,[1,2,3,4,5,6,7,8,9,10].all(e,[1,2,3,4,5,6,7,8,9,10].all(f,true))))))"}]}`, ``,
			says("expression ''a'.matches('a') && [1,2,3,4,5,6,7,8,9,10].all(a,[1,2,3,4,5,6,7,8,9,10].all(b,[1,2,3,4,5,6,7,8,9,10].all(c,[1,2,3,4,5,6,7,8,9,10].all(d,[1,2,3,4,5,6,7,8,9,10].all(e,[1,2,3,4,5,6,7,8,9,10].all(f,true))))))' resulted in error: operation cancelled: actual cost limit exceeded")},
	} {
		t.Run(x.name, func(t *testing.T) {
			p := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: *read[admissionv1.ValidatingAdmissionPolicySpec](t, x.policy)}
			p.Spec.MatchConstraints = match(ns)
			b := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: *read[admissionv1.ValidatingAdmissionPolicyBindingSpec](t, x.binding)}
			b.Spec.PolicyName = "p"
			if b.Spec.ValidationActions == nil {
				b.Spec.ValidationActions = []admissionv1.ValidationAction{admissionv1.Deny}
			}
			policies, bindings := c.AdmissionregistrationV1().ValidatingAdmissionPolicies(), c.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
			if _, err := policies.Create(background, p, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := bindings.Create(background, b, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			settled()
			r := c.CoreV1().RESTClient().Post().AbsPath("/api/v1/namespaces/"+ns+"/configmaps").Param("dryRun", "All").Body(configMap("c")).Do(background)
			if got := outcome(r.Error()); got != x.want {
				t.Errorf("got  %s\nwant %s", got, x.want)
			}
			if w := r.Warnings(); x.name == "warned" && (len(w) != 1 || w[0].Text != "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p': failed expression: false") {
				t.Errorf("the warnings are %v", w)
			}
			_ = bindings.Delete(background, "p", metav1.DeleteOptions{})
			_ = policies.Delete(background, "p", metav1.DeleteOptions{})
			settled()
		})
	}
}

func TestMutating(t *testing.T) {
	const ns = "mutating"
	c := start(t, ns)
	fails := func(text string) string {
		return "403 Invalid: policy 'p' with binding 'p' denied request: " + text
	}
	for _, x := range []struct{ name, policy, want, data string }{
		{"apply", `{mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{data: {'k': object.metadata.name}}"}}]}`, "ok", "map[a:b k:c]"},
		{"patch", `{mutations: [{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{op: 'add', path: '/data/' + jsonpatch.escapeKey('x'), value: 'y'}]"}}]}`, "ok", "map[a:b x:y]"},
		{"both, in order", `{variables: [{name: v, expression: "'k' in object.data ? object.data.k : 'none'"}], mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{data: {'k': '1'}}"}},{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{op: 'add', path: '/data/l', value: variables.v}]"}}]}`, "ok", "map[a:b k:1 l:1]"},
		{"a test that fails", `{mutations: [{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{op: 'test', path: '/data/a', value: 'z'},JSONPatch{op: 'remove', path: '/data'}]"}}]}`, "ok", "map[a:b]"},
		{"a patch of nothing", `{mutations: [{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{op: 'remove', path: '/spec/x'}]"}}]}`, fails(`JSON Patch: remove operation does not apply: doc is missing path: "/spec/x": missing value`), ""},
		{"copies of copies", fmt.Sprintf(`{mutations: [{patchType: JSONPatch, jsonPatch: {expression: "[%s]"}}]}`, doubling(25)), fails("JSON Patch: Unable to complete the copy, the accumulated size increase of copy is 3932284, exceeding the limit 3145728"), ""},
		{"an unknown field", `{mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{nope: 'x'}"}}]}`, fails("error applying patch: failed to convert patch object to typed object: .nope: field not declared in schema"), ""},
		{"an error", `{mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{data: {'k': object.spec.x}}"}}]}`, fails("expression 'Object{data: {'k': object.spec.x}}' resulted in error: no such key: spec"), ""},
		{"an ignored error", `{failurePolicy: Ignore, mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{data: {'k': object.spec.x}}"}}]}`, "ok", "map[a:b]"},
		{"a condition", `{matchConditions: [{name: c, expression: "false"}], mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{data: {'k': 'x'}}"}}]}`, "ok", "map[a:b]"},
		{"atomics", `{mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{metadata: Object.metadata{ownerReferences: [Object.metadata.ownerReferences{uid: 'u'}]}}"}}]}`, fails("error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .metadata.ownerReferences[0]"), ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			p := &admissionv1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: *read[admissionv1.MutatingAdmissionPolicySpec](t, x.policy)}
			p.Spec.MatchConstraints, p.Spec.ReinvocationPolicy = match(ns), admissionv1.NeverReinvocationPolicy
			b := &admissionv1.MutatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: "p"}}
			policies, bindings := c.AdmissionregistrationV1().MutatingAdmissionPolicies(), c.AdmissionregistrationV1().MutatingAdmissionPolicyBindings()
			if _, err := policies.Create(background, p, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := bindings.Create(background, b, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			settled()
			got, err := c.CoreV1().ConfigMaps(ns).Create(background, configMap("c"), metav1.CreateOptions{DryRun: []string{"All"}})
			if text := outcome(err); text != x.want {
				t.Errorf("got  %s\nwant %s", text, x.want)
			} else if err == nil && fmt.Sprint(got.Data) != x.data {
				t.Errorf("the data are %v, want %s", got.Data, x.data)
			}
			_ = bindings.Delete(background, "p", metav1.DeleteOptions{})
			_ = policies.Delete(background, "p", metav1.DeleteOptions{})
			settled()
		})
	}
}

// TestChecked checks that a policy that does not compile is rejected on write.
func TestChecked(t *testing.T) {
	c := start(t, "checked")
	p := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "bad"}, Spec: *read[admissionv1.ValidatingAdmissionPolicySpec](t, `
variables: [{name: v, expression: "1 +"}]
matchConditions: [{name: c, expression: "'x'"}]
validations: [{expression: "objekt.x"}, {expression: "true", messageExpression: "1"}]
auditAnnotations: [{key: k, valueExpression: "true"}]`)}
	p.Spec.MatchConstraints = match("checked")
	_, err := c.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(background, p, metav1.CreateOptions{DryRun: []string{"All"}})
	check := func(err error, want ...string) {
		t.Helper()
		var s *apierrors.StatusError
		if !errors.As(err, &s) || s.ErrStatus.Details == nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, cause := range s.ErrStatus.Details.Causes {
			got[cause.Field+": "+cause.Message] = true
		}
		for _, w := range want {
			if !got[w] {
				t.Errorf("there is no cause %q", w)
			}
			delete(got, w)
		}
		for g := range got {
			t.Errorf("there is a cause %q", g)
		}
	}
	check(err,
		`spec.variables[0].expression: Invalid value: "1 +": compilation failed: ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}`+"\n | 1 +\n | ...^",
		`spec.matchConditions[0].expression: Invalid value: "'x'": must evaluate to bool but got string`,
		`spec.validations[0].expression: Invalid value: "objekt.x": compilation failed: ERROR: <input>:1:1: undeclared reference to 'objekt' (in container '')`+"\n | objekt.x\n | ^",
		`spec.validations[1].messageExpression: Invalid value: "1": must evaluate to string but got int`,
		`spec.auditAnnotations[0].valueExpression: Invalid value: "true": must evaluate to one of [string null_type] but got bool`)

	m := &admissionv1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "bad"}, Spec: *read[admissionv1.MutatingAdmissionPolicySpec](t, `
reinvocationPolicy: Never
mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "{'a': 1}"}}, {patchType: JSONPatch, jsonPatch: {expression: "Object{}"}}]`)}
	m.Spec.MatchConstraints = match("checked")
	_, err = c.AdmissionregistrationV1().MutatingAdmissionPolicies().Create(background, m, metav1.CreateOptions{DryRun: []string{"All"}})
	check(err,
		`spec.mutations[0].applyConfiguration.expression: Invalid value: "{'a': 1}": must evaluate to Object but got map(string, int)`,
		`spec.mutations[1].jsonPatch.expression: Invalid value: "Object{}": must evaluate to list(JSONPatch) but got Object`)

	h := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "bad"}, Webhooks: []admissionv1.ValidatingWebhook{{
		Name: "a.example.com", ClientConfig: admissionv1.WebhookClientConfig{URL: ptr.To("https://localhost")}, SideEffects: ptr.To(admissionv1.SideEffectClassNone),
		AdmissionReviewVersions: []string{"v1"}, MatchConditions: []admissionv1.MatchCondition{{Name: "c", Expression: "params.x"}},
	}}}
	_, err = c.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(background, h, metav1.CreateOptions{DryRun: []string{"All"}})
	check(err, `webhooks[0].matchConditions[0].expression: Invalid value: "params.x": compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')`+"\n | params.x\n | ^")
}

// doubling returns operations each of which copies the results of all before it.
func doubling(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("JSONPatch{op: 'copy', from: '/data', path: '/data/c%d'}", i)
	}
	return strings.Join(list, ", ")
}
