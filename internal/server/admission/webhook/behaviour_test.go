package webhook_test

import (
	"context"
	"encoding/json"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	reviewv1 "k8s.io/api/admission/v1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

var background = context.Background()

func configMap(name string, labels map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Data: map[string]string{"a": "b"}}
}

// TestMutate checks that webhooks are called in the order of their configurations' names, that each sees the
// changes of those before it, and that those that allow it are reinvoked.
func TestMutate(t *testing.T) {
	w := start(t)
	w.namespace(t, "mutate")
	add := func(path, value string) {
		w.hooks.says(path, func(q *reviewv1.AdmissionRequest, a *reviewv1.AdmissionResponse) {
			c := &corev1.ConfigMap{}
			_ = json.Unmarshal(q.Object.Raw, c)
			if c.Data[path] != "" {
				return
			}
			patch(a, `[{"op":"add","path":"/data/`+path+`","value":"`+value+`-saw-`+strconv.Itoa(len(c.Data))+`"}]`)
		})
	}
	add("one", "1")
	add("two", "2")
	again := func(h *admissionv1.MutatingWebhook) {
		h.ReinvocationPolicy = ptr.To(admissionv1.IfNeededReinvocationPolicy)
	}
	w.mutating(t, "b.example.com", w.mutate("two", "mutate", nil))
	w.mutating(t, "a.example.com", w.mutate("one", "mutate", again))
	got, err := w.CoreV1().ConfigMaps("mutate").Create(background, configMap("c", nil), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Data["one"] != "1-saw-1" || got.Data["two"] != "2-saw-2" {
		t.Errorf("the data are %v", got.Data)
	}
	times := func(path string) int { return len(w.hooks.asked(path)) }
	if n, m := times("one"), times("two"); n != 2 || m != 1 {
		t.Errorf("asked %d and %d times, want 2 and 1", n, m)
	}
	want := `500 InternalError: Internal error occurred: admission webhook "one.example.com" attempted to modify the object, which is not supported for this operation`
	if got := w.outcome(w.CoreV1().ConfigMaps("mutate").Delete(background, "c", metav1.DeleteOptions{}), ""); got != want {
		t.Errorf("a patch of nothing: %s", got)
	}
}

// TestReview checks the contents of an AdmissionReview.
func TestReview(t *testing.T) {
	w := start(t)
	w.namespace(t, "review")
	w.hooks.says("m", nil)
	w.hooks.says("v", nil)
	w.mutating(t, "m.example.com", w.mutate("m", "review", nil))
	w.validating(t, "v.example.com", w.validate("v", "review", nil))
	maps := w.CoreV1().ConfigMaps("review")
	c := configMap("", nil)
	c.GenerateName = "gen-"
	c, err := maps.Create(background, c, metav1.CreateOptions{FieldManager: "me"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := maps.Patch(background, c.Name, types.MergePatchType, []byte(`{"data":{"a":"c"}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := maps.DeleteCollection(background, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](3)}, metav1.ListOptions{FieldSelector: "metadata.name=" + c.Name}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"m", "v"} {
		asked := w.hooks.asked(path)
		if len(asked) != 3 {
			t.Fatalf("%s was asked %d times", path, len(asked))
		}
		for i, want := range []struct {
			op             reviewv1.Operation
			options        string
			object, old    bool
			name, nameMuta string
		}{
			{"CREATE", "CreateOptions", true, false, c.Name, ""},
			{"UPDATE", "UpdateOptions", true, true, c.Name, c.Name},
			{"DELETE", "DeleteOptions", false, true, c.Name, c.Name},
		} {
			q := asked[i]
			if path == "m" {
				want.name = want.nameMuta
			}
			options := metav1.TypeMeta{}
			_ = json.Unmarshal(q.Options.Raw, &options)
			kind := metav1.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
			gvr := metav1.GroupVersionResource{Version: "v1", Resource: "configmaps"}
			if q.Operation != want.op || options.Kind != want.options || options.APIVersion != "meta.k8s.io/v1" ||
				q.Kind != kind || *q.RequestKind != kind || q.Resource != gvr || *q.RequestResource != gvr ||
				q.Namespace != "review" || *q.DryRun || !slices.Contains(q.UserInfo.Groups, "system:authenticated") ||
				(len(q.Object.Raw) > 4) != want.object || (len(q.OldObject.Raw) > 4) != want.old {
				t.Errorf("%s: question %d is %+v with %s", path, i, q, q.Options.Raw)
			}
			if q.Name != want.name && want.op != "DELETE" {
				t.Errorf("%s: question %d is about %q, want %q", path, i, q.Name, want.name)
			}
			seen := &corev1.ConfigMap{}
			if want.op == "CREATE" {
				if err := json.Unmarshal(q.Object.Raw, seen); err != nil || seen.Kind != "ConfigMap" || seen.APIVersion != "v1" ||
					(seen.UID != "") != (path == "v") || (seen.Name != "") != (path == "v") || len(seen.ManagedFields) != 1 {
					t.Errorf("%s sees %+v", path, seen)
				}
			}
		}
	}
}

// TestMatch checks which webhooks are called for which requests.
func TestMatch(t *testing.T) {
	w := start(t)
	w.namespace(t, "match")
	deny := func(path string) {
		w.hooks.says(path, func(q *reviewv1.AdmissionRequest, a *reviewv1.AdmissionResponse) { a.Allowed = false })
	}
	maps := w.CoreV1().ConfigMaps("match")
	dry := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	create := func(c *corev1.ConfigMap) string {
		_, err := maps.Create(background, c, dry)
		return w.outcome(err, "")
	}
	denied := `400 : admission webhook "p.example.com" denied the request without explanation`
	deny("p")
	for name, c := range map[string]struct {
		change func(*admissionv1.ValidatingWebhook)
		want   string
	}{
		"plain":             {func(*admissionv1.ValidatingWebhook) {}, denied},
		"another operation": {func(h *admissionv1.ValidatingWebhook) { h.Rules[0].Operations = []admissionv1.OperationType{"UPDATE"} }, "ok"},
		"another version":   {func(h *admissionv1.ValidatingWebhook) { h.Rules[0].APIVersions = []string{"v2"} }, "ok"},
		"everything":        {func(h *admissionv1.ValidatingWebhook) { h.Rules = rules("*", "*", "*/*") }, denied},
		"resources only":    {func(h *admissionv1.ValidatingWebhook) { h.Rules = rules("*", "*", "*") }, denied},
		"subresources only": {func(h *admissionv1.ValidatingWebhook) { h.Rules = rules("*", "*", "configmaps/status") }, "ok"},
		"scope":             {func(h *admissionv1.ValidatingWebhook) { h.Rules[0].Scope = ptr.To(admissionv1.ClusterScope) }, "ok"},
		"other objects": {func(h *admissionv1.ValidatingWebhook) {
			h.ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"x": "z"}}
		}, "ok"},
		"these objects": {func(h *admissionv1.ValidatingWebhook) {
			h.ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"x": "y"}}
		}, denied},
		"a condition":          {condition(`object.metadata.name == "c" && request.operation == "CREATE" && oldObject == null`), denied},
		"a false one":          {condition(`object.metadata.name == "d"`), "ok"},
		"one that fails":       {condition(`object.spec.x == "d"`), `403 Forbidden: configmaps "c" is forbidden: expression 'object.spec.x == "d"' resulted in error: no such key: spec`},
		"one that fails, then": {condition(`object.spec.x == "d"`, `false`), "ok"},
		"fails and is ignored": {func(h *admissionv1.ValidatingWebhook) {
			condition(`object.spec.x == "d"`)(h)
			h.FailurePolicy = ptr.To(admissionv1.Ignore)
		}, "ok"},
		"the authorizer": {condition(`authorizer.group("").resource("nodes").check("get").allowed() && authorizer.requestResource.check("create").allowed()`), denied},
		"side effects": {func(h *admissionv1.ValidatingWebhook) {
			h.SideEffects = ptr.To(admissionv1.SideEffectClassNoneOnDryRun)
		}, denied},
	} {
		t.Run(name, func(t *testing.T) {
			w.validating(t, "v.example.com", w.validate("p", "match", c.change))
			if got := create(configMap("c", map[string]string{"x": "y"})); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	t.Run("failure ignored", func(t *testing.T) {
		w.validating(t, "v.example.com", w.validate("none", "match", func(h *admissionv1.ValidatingWebhook) { h.FailurePolicy = ptr.To(admissionv1.Ignore) }))
		if got := create(configMap("c", nil)); got != "ok" {
			t.Error(got)
		}
	})
	t.Run("timeout", func(t *testing.T) {
		release := make(chan bool)
		w.hooks.on("slow", func(*reviewv1.AdmissionReview) (int, any) { <-release; return 200, "" })
		defer close(release)
		w.validating(t, "v.example.com", w.validate("slow", "match", func(h *admissionv1.ValidatingWebhook) { h.TimeoutSeconds = ptr.To[int32](1) }))
		want := internal + `"slow.example.com": failed to call webhook: Post "HOOKS/slow?timeout=1s": context deadline exceeded`
		if got := create(configMap("c", nil)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
	t.Run("unknown authority", func(t *testing.T) {
		w.validating(t, "v.example.com", w.validate("p", "match", func(h *admissionv1.ValidatingWebhook) { h.ClientConfig.CABundle = nil }))
		want := internal + `"p.example.com": failed to call webhook: Post "HOOKS/p?timeout=30s": tls: failed to verify certificate: x509: certificate signed by unknown authority`
		if got := create(configMap("c", nil)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
	t.Run("warnings", func(t *testing.T) {
		w.hooks.says("w", func(_ *reviewv1.AdmissionRequest, a *reviewv1.AdmissionResponse) {
			a.Warnings = []string{"mind the gap"}
		})
		w.validating(t, "v.example.com", w.validate("w", "match", nil))
		r := w.CoreV1().RESTClient().Post().AbsPath("/api/v1/namespaces/match/configmaps").Param("dryRun", "All").Body(configMap("c", nil)).Do(background)
		if err := r.Error(); err != nil || len(r.Warnings()) != 1 || r.Warnings()[0].Text != "mind the gap" {
			t.Errorf("%v: warnings are %v", err, r.Warnings())
		}
	})
	t.Run("exempt", func(t *testing.T) {
		w.validating(t, "v.example.com", w.validate("p", "match", func(h *admissionv1.ValidatingWebhook) {
			h.Rules, h.NamespaceSelector = rules("admissionregistration.k8s.io", "*", "*"), nil
		}))
		w.mutating(t, "m.example.com", w.mutate("p", "match", nil)) // is created and deleted
	})
}

func condition(list ...string) func(*admissionv1.ValidatingWebhook) {
	return func(h *admissionv1.ValidatingWebhook) {
		for i, e := range list {
			h.MatchConditions = append(h.MatchConditions, admissionv1.MatchCondition{Name: "c" + strconv.Itoa(i), Expression: e})
		}
	}
}

// TestVersions checks that a webhook sees the version it was registered for and patches that version, and that a
// subresource with a kind of its own has that kind.
func TestVersions(t *testing.T) {
	w := start(t)
	w.namespace(t, "versions")
	w.hooks.says("hpa", func(_ *reviewv1.AdmissionRequest, a *reviewv1.AdmissionResponse) {
		patch(a, `[{"op":"add","path":"/spec/targetCPUUtilizationPercentage","value":42}]`)
	})
	w.hooks.says("scale", func(_ *reviewv1.AdmissionRequest, a *reviewv1.AdmissionResponse) {
		patch(a, `[{"op":"replace","path":"/spec/replicas","value":7}]`)
	})
	w.mutating(t, "m.example.com",
		w.mutate("hpa", "versions", func(h *admissionv1.MutatingWebhook) { h.Rules = rules("autoscaling", "v1", "horizontalpodautoscalers") }),
		w.mutate("scale", "versions", func(h *admissionv1.MutatingWebhook) { h.Rules = rules("apps", "v1", "deployments/scale") }))
	body := `{"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v2","metadata":{"name":"h"},"spec":{"maxReplicas":3,"scaleTargetRef":{"kind":"Deployment","name":"d","apiVersion":"apps/v1"}}}`
	text, err := w.RESTClient().Post().AbsPath("/apis/autoscaling/v2/namespaces/versions/horizontalpodautoscalers").Body([]byte(body)).
		SetHeader("Content-Type", "application/json").Do(background).Raw()
	if err != nil || !strings.Contains(string(text), `"averageUtilization":42`) {
		t.Errorf("%v: %s", err, text)
	}
	q := w.hooks.asked("hpa")
	if len(q) != 1 || q[0].Kind.Version != "v1" || q[0].RequestKind.Version != "v2" || q[0].Resource.Version != "v1" || q[0].RequestResource.Version != "v2" ||
		!strings.Contains(string(q[0].Object.Raw), `"autoscaling/v1"`) {
		t.Errorf("was asked %+v", q)
	}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d"}, Spec: appsv1.DeploymentSpec{
		Replicas: ptr.To[int32](0), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}},
	}}
	if _, err := w.AppsV1().Deployments("versions").Create(background, d, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s, err := w.AppsV1().Deployments("versions").UpdateScale(background, "d", &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Name: "d", Namespace: "versions"}, Spec: autoscalingv1.ScaleSpec{Replicas: 2}}, metav1.UpdateOptions{})
	if err != nil || s.Spec.Replicas != 7 {
		t.Errorf("%v: %+v", err, s)
	}
	// Called again if the deployment controller wrote the status just then.
	q = w.hooks.asked("scale")
	if len(q) == 0 || q[0].Kind.Kind != "Scale" || q[0].Kind.Group != "autoscaling" || q[0].SubResource != "scale" || q[0].Resource.Resource != "deployments" {
		t.Errorf("was asked %+v", q)
	}
}

// TestService checks that a service is resolved by its slices or its external name, and verified by its own name.
func TestService(t *testing.T) {
	if *kubeconfig != "" {
		t.Skip("kube-apiserver asks the service's cluster IP, which nobody serves")
	}
	w := start(t)
	w.namespace(t, "shop")
	w.hooks.says("p", func(_ *reviewv1.AdmissionRequest, a *reviewv1.AdmissionResponse) { a.Allowed = false })
	u, err := url.Parse(w.hooks.URL)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := net.SplitHostPort(u.Host)
	port, _ := strconv.Atoi(text)
	w.validating(t, "v.example.com", w.validate("p", "shop", func(h *admissionv1.ValidatingWebhook) {
		h.ClientConfig = admissionv1.WebhookClientConfig{CABundle: w.hooks.ca, Service: &admissionv1.ServiceReference{
			Namespace: "shop", Name: "hook", Path: ptr.To("/p"), Port: ptr.To[int32](8443)}}
	}))
	expect := func(want string) {
		t.Helper()
		_, err := w.CoreV1().ConfigMaps("shop").Create(background, configMap("c", nil), metav1.CreateOptions{})
		if got := w.outcome(err, ""); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	post := internal + `"p.example.com": failed to call webhook: Post "https://hook.shop.svc:8443/p?timeout=30s": `
	expect(post + `service "hook" not found`)
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "hook"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "tls", Port: 8443}}}}
	if _, err := w.CoreV1().Services("shop").Create(background, svc, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	expect(post + `no endpoints available for service "hook"`)
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: "hook-1", Labels: map[string]string{discoveryv1.LabelServiceName: "hook"}},
		AddressType: discoveryv1.AddressTypeIPv4, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.1.2.3"}}},
		Ports: []discoveryv1.EndpointPort{{Name: ptr.To("tls"), Port: ptr.To(int32(port))}},
	}
	slice.Endpoints[0].Conditions.Ready = ptr.To(false)
	if _, err := w.DiscoveryV1().EndpointSlices("shop").Create(background, slice, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	expect(post + `no endpoints available for service "hook"`)
	svc.Spec = corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"}
	if _, err := w.CoreV1().Services("shop").Update(background, svc, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	cfg, err := w.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(background, "v.example.com", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Webhooks[0].ClientConfig.Service.Port = ptr.To(int32(port))
	if _, err := w.AdmissionregistrationV1().ValidatingWebhookConfigurations().Update(background, cfg, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	expect(`400 : admission webhook "p.example.com" denied the request without explanation`)
}
