package resourceclaim_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

type fixture struct {
	*testing.T
	pods      client.Resource[*corev1.Pod]
	claims    client.Resource[*resourcev1.ResourceClaim]
	templates client.Resource[*resourcev1.ResourceClaimTemplate]
	events    client.Resource[*corev1.Event]
}

func start(t *testing.T) fixture {
	c := testenv.New(t, testenv.Options{NoScheduler: true, NoNodes: true, Controllers: []string{"resourceclaim", "serviceaccount"}}).Client(t)
	waittest.One(t, client.For[*corev1.ServiceAccount](c).Namespace("default"), "default", "the account", func(*corev1.ServiceAccount) bool { return true })
	return fixture{t, client.For[*corev1.Pod](c).Namespace("default"), client.For[*resourcev1.ResourceClaim](c).Namespace("default"),
		client.For[*resourcev1.ResourceClaimTemplate](c).Namespace("default"), client.For[*corev1.Event](c).Namespace("default")}
}

func (f fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func spec() resourcev1.ResourceClaimSpec {
	return resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{
		Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu.example.com"}}}}}
}

func (f fixture) pod(name, node string, claims ...corev1.PodResourceClaim) *corev1.Pod {
	f.Helper()
	p, err := f.pods.Create(f.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
		NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "i"}}, ResourceClaims: claims}})
	f.must(err)
	return p
}

func (f fixture) template(name string) {
	f.Helper()
	_, err := f.templates.Create(f.Context(), &resourcev1.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: resourcev1.ResourceClaimTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}, Spec: spec()}})
	f.must(err)
}

// generated waits for the claim in a pod's status whose name differs from other.
func (f fixture) generated(pod, other string) string {
	f.Helper()
	p := waittest.One(f.T, f.pods, pod, "its claim", func(p *corev1.Pod) bool {
		s := p.Status.ResourceClaimStatuses
		return len(s) == 1 && s[0].Name == "gpu" && s[0].ResourceClaimName != nil && *s[0].ResourceClaimName != other
	})
	return *p.Status.ResourceClaimStatuses[0].ResourceClaimName
}

// finish sets the phase of a pod to Succeeded.
func (f fixture) finish(pod string) {
	f.Helper()
	_, err := f.pods.Patch(f.Context(), pod, client.MergePatch(map[string]any{"status": map[string]any{"phase": "Succeeded"}}).On("status"))
	f.must(err)
}

// A pod gets a claim of its template as soon as that exists, and another one if the claim is deleted; when the pod
// has finished, the claim is deleted.
func TestClaimsOfTemplates(t *testing.T) {
	f := start(t)
	p := f.pod("web", "", corev1.PodResourceClaim{Name: "gpu", ResourceClaimTemplateName: ptr.To("gpus")})
	waittest.For(t, f.events, "the event", "", func(have map[string]*corev1.Event) bool {
		for _, e := range have {
			if e.Reason == "FailedResourceClaimCreation" && e.Type == "Warning" && e.InvolvedObject.Name == "web" && e.Source.Component == "resource_claim" &&
				e.Message == `PodResourceClaim gpu: resource claim template "gpus": resourceclaimtemplate.resource.k8s.io "gpus" not found` {
				return true
			}
		}
		return false
	})
	f.template("gpus")
	first := f.generated("web", "")
	o, err := f.claims.Get(t.Context(), first)
	f.must(err)
	if !strings.HasPrefix(first, "web-gpu-") || !metav1.IsControlledBy(o, p) || o.Labels["a"] != "b" ||
		o.Annotations["resource.kubernetes.io/pod-claim-name"] != "gpu" || len(o.Spec.Devices.Requests) != 1 {
		t.Fatalf("%+v", o)
	}
	f.must(f.claims.Delete(t.Context(), first))
	second := f.generated("web", first)
	f.finish("web")
	waittest.Gone(t, f.claims, second)
	list, err := f.claims.List(t.Context())
	if err != nil || len(list.Items) != 0 {
		t.Fatal(list, err)
	}
}

// An allocated claim is reserved for the pods that are bound already, until they have finished or are gone; after
// the last one its devices are free, also if their driver has reported on them.
func TestReservations(t *testing.T) {
	f := start(t)
	_, err := f.claims.Create(t.Context(), &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "shared", Finalizers: []string{"resource.kubernetes.io/delete-protection"}}, Spec: spec()})
	f.must(err)
	for _, name := range []string{"a", "b"} {
		f.pod(name, "far", corev1.PodResourceClaim{Name: "gpu", ResourceClaimName: ptr.To("shared")})
	}
	_, err = f.claims.Patch(t.Context(), "shared", client.MergePatch(map[string]any{"status": map[string]any{
		"allocation": resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
			{Request: "gpu", Driver: "gpu.example.com", Pool: "p", Device: "d"}}}},
		"devices": []resourcev1.AllocatedDeviceStatus{{Driver: "gpu.example.com", Pool: "p", Device: "d"}}}}).On("status"))
	f.must(err)
	reservedFor := func(what string, n int) {
		t.Helper()
		waittest.One(t, f.claims, "shared", what, func(o *resourcev1.ResourceClaim) bool {
			return len(o.Status.ReservedFor) == n && (o.Status.Allocation != nil) == (n > 0) && (len(o.Finalizers) == 1) == (n > 0)
		})
	}
	reservedFor("both pods", 2)
	f.finish("a")
	reservedFor("one pod", 1)
	f.must(f.pods.Delete(t.Context(), "b", metav1.DeleteOptions{GracePeriodSeconds: new(int64)}))
	reservedFor("nobody", 0)
	if _, err := f.claims.Get(t.Context(), "shared"); err != nil {
		t.Fatal(err)
	}
}
