package clientsuite

import (
	"encoding/json"
	"net/url"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
)

var tried = []string{metav1.DryRunAll}

func podOf(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "web"}}}}
}

func makeDeployment(t *testing.T, c *client.Client, ns string) client.Resource[*appsv1.Deployment] {
	t.Helper()
	r := client.For[*appsv1.Deployment](c).Namespace(ns)
	pod := podOf("")
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: pod.Labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: pod.Labels}, Spec: pod.Spec}}}
	if _, err := r.Create(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestStatusAndScale: a write to a subresource changes only its part of the object.
func TestStatusAndScale(t *testing.T) {
	ctx, c, ns := t.Context(), connect(t, nil, client.Options{}), newNamespace(t)
	r := makeDeployment(t, c, ns)
	d, err := r.Get(ctx, "web")
	if err != nil {
		t.Fatal(err)
	}
	d.Spec.Replicas, d.Status.Replicas = ptr.To[int32](9), 3
	d, err = r.UpdateStatus(ctx, d, metav1.UpdateOptions{FieldManager: "teller"})
	if err != nil || d.Status.Replicas != 3 || *d.Spec.Replicas != 1 {
		t.Fatalf("a status: %v %v", err, d)
	}
	d, err = r.Patch(ctx, "web", client.MergePatch(map[string]any{"spec": map[string]any{"replicas": 9}, "status": map[string]any{"updatedReplicas": 2}}).On("status"))
	if err != nil || d.Status.UpdatedReplicas != 2 || *d.Spec.Replicas != 1 {
		t.Fatalf("a patch of a status: %v %v", err, d)
	}
	var read appsv1.Deployment
	if err := r.GetSubresource(ctx, "web", "status", &read); err != nil || read.Status.UpdatedReplicas != 2 {
		t.Errorf("the status: %v %v", err, read)
	}

	s, err := r.Scale(ctx, "web")
	if err != nil || s.Spec.Replicas != 1 || s.Status.Replicas != 3 || s.Status.Selector != "app=web" {
		t.Fatalf("the scale: %v %v", err, s)
	}
	old := s.DeepCopy()
	s.Spec.Replicas = 4
	if s, err = r.SetScale(ctx, s, metav1.UpdateOptions{DryRun: tried}); err != nil || s.Spec.Replicas != 4 {
		t.Errorf("a scale, tried: %v %v", err, s)
	}
	if s, err = r.Scale(ctx, "web"); err != nil || s.Spec.Replicas != 1 {
		t.Errorf("what was only tried: %v %v", err, s)
	}
	s.Spec.Replicas = 5
	if s, err = r.SetScale(ctx, s); err != nil || s.Spec.Replicas != 5 {
		t.Errorf("a scale: %v %v", err, s)
	}
	_, err = r.SetScale(ctx, old)
	refused(t, "a scale that has changed", err, client.ErrConflict)
	to := client.MergePatch(map[string]any{"spec": map[string]any{"replicas": 6}})
	if s, err = r.PatchScale(ctx, "web", to); err != nil || s.Spec.Replicas != 6 {
		t.Errorf("a patched scale: %v %v", err, s)
	}
	if _, err = r.Patch(ctx, "web", to.On("scale")); err == nil {
		t.Error("a scale was taken for a deployment")
	}
	_, err = client.For[*corev1.ConfigMap](c).Namespace(ns).Scale(ctx, "web")
	refused(t, "the scale of what has none", err, client.ErrNotFound)
	// The same without the Go type.
	gvr, err := r.GVR(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = client.Dynamic(c, gvr, true).Namespace(ns).Scale(ctx, "web"); err != nil || s.Spec.Replicas != 6 {
		t.Errorf("the scale by name: %v %v", err, s)
	}
}

// TestPodSubresources: bindings, evictions and ephemeral containers, as schedulers,
// kubectl drain and kubectl debug send them.
func TestPodSubresources(t *testing.T) {
	ctx, c, ns := t.Context(), connect(t, nil, client.Options{}), newNamespace(t)
	pods := client.For[*corev1.Pod](c).Namespace(ns)
	if _, err := pods.Create(ctx, podOf("web")); err != nil {
		t.Fatal(err)
	}
	bind := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: ns}, Target: corev1.ObjectReference{Kind: "Node", Name: "n1"}}
	if err := pods.CreateSubresource(ctx, "web", "binding", bind, nil, metav1.CreateOptions{DryRun: tried}); err != nil {
		t.Fatal(err)
	}
	if p, err := pods.Get(ctx, "web"); err != nil || p.Spec.NodeName != "" {
		t.Errorf("bound by a try: %v %v", err, p)
	}
	if err := pods.CreateSubresource(ctx, "web", "binding", bind, nil); err != nil {
		t.Fatal(err)
	}
	refused(t, "a second binding", pods.CreateSubresource(ctx, "web", "binding", bind, nil), client.ErrConflict)
	p, err := pods.Get(ctx, "web")
	if err != nil || p.Spec.NodeName != "n1" {
		t.Fatalf("not bound: %v %v", err, p)
	}
	p.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{
		Name: "debug", Image: "shell", ImagePullPolicy: corev1.PullIfNotPresent, TerminationMessagePolicy: corev1.TerminationMessageReadFile}}}
	if p, err = pods.UpdateSubresource(ctx, p, "ephemeralcontainers"); err != nil || len(p.Spec.EphemeralContainers) != 1 {
		t.Errorf("an ephemeral container: %v", err)
	}
	evict := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: ns},
		DeleteOptions: &metav1.DeleteOptions{DryRun: tried, GracePeriodSeconds: ptr.To[int64](0)}}
	if err := pods.CreateSubresource(ctx, "web", "eviction", evict, nil); err != nil {
		t.Error(err)
	}
	if _, err := pods.Get(ctx, "web"); err != nil {
		t.Errorf("evicted by a try: %v", err)
	}
	evict.DeleteOptions.DryRun = nil
	if err := pods.CreateSubresource(ctx, "web", "eviction", evict, nil); err != nil {
		t.Error(err)
	}
	_, err = pods.Get(ctx, "web")
	refused(t, "an evicted pod", err, client.ErrNotFound)
}

// TestTokens: a token of a service account is a way in.
func TestTokens(t *testing.T) {
	ctx, c, ns := t.Context(), connect(t, nil, client.Options{}), newNamespace(t)
	var answer authenticationv1.TokenRequest
	ask := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](3600)}}
	if err := client.For[*corev1.ServiceAccount](c).Namespace(ns).CreateSubresource(ctx, "default", "token", ask, &answer); err != nil {
		t.Fatal(err)
	}
	review, err := client.For[*authenticationv1.TokenReview](c).Create(ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: answer.Status.Token}})
	if err != nil || !review.Status.Authenticated || review.Status.User.Username != "system:serviceaccount:"+ns+":default" {
		t.Errorf("%v %+v", err, review)
	}
}

// TestREST sends the same options as plain requests.
func TestREST(t *testing.T) {
	ctx, c, ns := t.Context(), connect(t, nil, client.Options{}), newNamespace(t)
	makeDeployment(t, c, ns)
	at := "/apis/apps/v1/namespaces/" + ns + "/deployments"
	send := func(q client.Request, into any) error {
		t.Helper()
		res, err := c.REST().Do(ctx, q)
		if err == nil && into != nil {
			err = json.Unmarshal(res.Body, into)
		}
		return err
	}
	var l appsv1.DeploymentList
	if err := send(client.Request{Path: at, Query: url.Values{"limit": {"1"}, "fieldSelector": {"metadata.name=web"}}}, &l); err != nil || len(l.Items) != 1 {
		t.Errorf("a list: %v %v", err, l)
	}
	var table metav1.Table
	if err := send(client.Request{Path: at + "/web", Accept: "application/json;as=Table;v=v1;g=meta.k8s.io"}, &table); err != nil || len(table.Rows) != 1 {
		t.Errorf("a table: %v %v", err, table)
	}
	var s autoscalingv1.Scale
	merge := client.Request{Method: "PATCH", Path: at + "/web/scale", Body: []byte(`{"spec":{"replicas":7}}`), ContentType: "application/merge-patch+json"}
	merge.Query = url.Values{"dryRun": {"All"}, "fieldManager": {"rest"}}
	if err := send(merge, &s); err != nil || s.Spec.Replicas != 7 {
		t.Errorf("a patch of a scale: %v %v", err, s)
	}
	apply := client.Request{Method: "PATCH", Path: at + "/web", ContentType: "application/apply-patch+yaml",
		Body: []byte("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, labels: {by: yaml}}\n"), Query: url.Values{"fieldManager": {"rest"}, "force": {"true"}}}
	var d appsv1.Deployment
	if err := send(apply, &d); err != nil || d.Labels["by"] != "yaml" {
		t.Errorf("an apply: %v %v", err, d.Labels)
	}
	del := client.Request{Method: "DELETE", Path: at + "/web", Body: []byte(`{"preconditions":{"uid":"another"}}`)}
	refused(t, "a delete of another", send(del, nil), client.ErrConflict)
	del.Body = nil
	del.Query = url.Values{"propagationPolicy": {"Background"}, "gracePeriodSeconds": {"0"}}
	if err := send(del, nil); err != nil {
		t.Error(err)
	}
	if err := send(client.Request{Path: at + "/web"}, nil); !apierrors.IsNotFound(err) {
		t.Errorf("what is deleted: %v", err)
	}
}

// TestDiscovery: the server's resources are found, with their scope and verbs.
func TestDiscovery(t *testing.T) {
	c := connect(t, nil, client.Options{})
	all, err := c.ServerResources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]client.APIResource{}
	for _, r := range all {
		found[r.GVR.String()] = r
	}
	for what, x := range map[string]struct {
		kind       string
		namespaced bool
	}{
		"/v1, Resource=pods":                                          {"Pod", true},
		"/v1, Resource=nodes":                                         {"Node", false},
		"apps/v1, Resource=deployments":                               {"Deployment", true},
		"events.k8s.io/v1, Resource=events":                           {"Event", true},
		"apiextensions.k8s.io/v1, Resource=customresourcedefinitions": {"CustomResourceDefinition", false},
	} {
		r, ok := found[what]
		if !ok || r.Kind.Kind != x.kind || r.Namespaced != x.namespaced || !r.Preferred || !r.Can("get", "list", "watch", "patch") || r.Can("fly") {
			t.Errorf("%s: %+v", what, r)
		}
	}
}
