package controlplane_test

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/trace"
)

// TestCauses: controllers that write other objects than the one that changed name the
// change as the cause: the aggregation of cluster roles, the autoscaler, the garbage
// collector, and the removal of finalizers from pods whose Job is gone.
func TestCauses(t *testing.T) {
	lives := trace.New(trace.Options{})
	cp := controlplanetest.Start(t, controlplane.Options{
		Trace:       lives,
		Controllers: []string{"serviceaccount", "garbagecollector", "clusterroleaggregation", "horizontalpodautoscaler", "job"},
	})
	c := controlplanetest.Client(t, cp)
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	accounts := client.For[*corev1.ServiceAccount](c).Namespace("default")
	waittest.One(t, accounts, "default", "the service account", func(*corev1.ServiceAccount) bool { return true })
	pods, deployments := client.For[*corev1.Pod](c).Namespace("default"), client.For[*appsv1.Deployment](c).Namespace("default")
	roles, scalers := client.For[*rbacv1.ClusterRole](c), client.For[*autoscalingv2.HorizontalPodAutoscaler](c).Namespace("default")

	_, err := roles.Create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "whole"}, AggregationRule: &rbacv1.AggregationRule{
		ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: map[string]string{"part": "yes"}}}}})
	must(err)
	_, err = roles.Create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "part", Labels: map[string]string{"part": "yes"}},
		Rules: []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}}})
	must(err)
	waittest.One(t, roles, "whole", "its rule", func(r *rbacv1.ClusterRole) bool { return len(r.Rules) == 1 })

	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	_, err = deployments.Create(ctx, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: appsv1.DeploymentSpec{
		Replicas: ptr.To[int32](5), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}, Template: template}})
	must(err)
	_, err = scalers.Create(ctx, &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "few"}, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		MaxReplicas: 2, ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}}})
	must(err)
	waittest.One(t, deployments, "web", "two replicas", func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == 2 })

	_, err = pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "stray", Finalizers: []string{batchv1.JobTrackingFinalizer}, OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "batch/v1", Kind: "Job", Name: "gone", UID: "11111111-2222-3333-4444-555555555555", Controller: ptr.To(true)}}},
		Spec: template.Spec})
	must(err)
	waittest.Gone(t, pods, "stray") // the collector deletes it, and its finalizer goes

	// If a controller first saw its object after the other one had changed, the cause is the
	// creation of its object.
	for _, link := range []struct{ effect, name, cause, of, by string }{
		{"clusterroles.rbac.authorization.k8s.io", "whole", "clusterroles.rbac.authorization.k8s.io", "part", "clusterroleaggregation"},
		{"deployments.apps", "web", "horizontalpodautoscalers.autoscaling", "few", "horizontalpodautoscaler"},
		{"pods", "stray", "pods", "stray", "garbagecollector"},
		{"pods", "stray", "pods", "stray", "job-strays"},
	} {
		until(t, lives, func() string {
			effects := lives.Lives(trace.Filter{Resource: link.effect, Name: link.name})
			for _, effect := range effects {
				for _, cause := range append(lives.Lives(trace.Filter{Resource: link.cause, Name: link.of}), effects...) {
					worked := slices.ContainsFunc(cause.Reconciles, func(w trace.LifeReconcile) bool {
						return w.Controller == link.by && w.Number == effect.Reconcile && slices.Contains(w.Writes, effect.Revision)
					})
					if slices.Contains(effect.Causes, cause.Revision) && worked {
						return ""
					}
				}
			}
			return link.by + ": its write to " + link.name + " has no cause"
		})
	}
}
