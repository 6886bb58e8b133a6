package clients_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// TestRuntimeClient uses controller-runtime's client: every verb and the important options,
// with typed, unstructured and metadata-only objects.
func TestRuntimeClient(t *testing.T) {
	g, ns, _ := quiet(t)
	c, err := client.New(g.config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, key := t.Context(), client.ObjectKey{Namespace: ns, Name: "web"}
	good := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}

	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "web", Labels: map[string]string{"app": "web"}}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}}},
	}}
	good("a dry run", c.Create(ctx, d.DeepCopy(), client.DryRunAll))
	if err := c.Get(ctx, key, &appsv1.Deployment{}); !apierrors.IsNotFound(err) {
		t.Errorf("after a dry run: %v", err)
	}
	good("create", c.Create(ctx, d, client.FieldOwner("maker")))
	if *d.Spec.Replicas != 1 || d.Spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType {
		t.Errorf("not filled in: %v", d.Spec)
	}

	before := d.DeepCopy()
	d.Spec.Template.Spec.Containers[0].Image = "web:2"
	good("a merge patch", c.Patch(ctx, d, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
	if d.Generation != 2 {
		t.Errorf("generation %d", d.Generation)
	}
	late := before.DeepCopy()
	late.Labels["late"] = "yes"
	if err := c.Patch(ctx, late, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); !apierrors.IsConflict(err) {
		t.Errorf("a patch with an old resourceVersion: %v", err)
	}
	before = d.DeepCopy()
	d.Spec.Template.Spec.Containers = append(d.Spec.Template.Spec.Containers, corev1.Container{Name: "side", Image: "side:1"})
	good("a strategic merge patch", c.Patch(ctx, d, client.StrategicMergeFrom(before)))

	d.Status.Replicas, d.Status.ObservedGeneration = 7, d.Generation
	d.Spec.Paused = true
	good("the status", c.Status().Update(ctx, d, client.FieldOwner("status")))
	if d.Status.Replicas != 7 || d.Spec.Paused || d.Generation != 3 {
		t.Errorf("a status that writes the spec: %v", d)
	}
	d.Status.Replicas = 100
	d.Spec.Paused = true
	good("update", c.Update(ctx, d))
	if d.Status.Replicas != 7 || !d.Spec.Paused {
		t.Errorf("an update that writes the status: %v", d)
	}

	scale := &autoscalingv1.Scale{}
	good("a scale", c.SubResource("scale").Get(ctx, d, scale))
	scale.Spec.Replicas = 4
	good("a new scale", c.SubResource("scale").Update(ctx, d, client.WithSubResourceBody(scale)))
	good("get", c.Get(ctx, key, d))
	if *d.Spec.Replicas != 4 {
		t.Errorf("%d replicas", *d.Spec.Replicas)
	}
	runtimeApply(t, c, ns)

	only := &metav1.PartialObjectMetadata{}
	only.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	good("metadata", c.Get(ctx, key, only))
	list := &appsv1.DeploymentList{}
	good("list", c.List(ctx, list, client.InNamespace(ns), client.MatchingLabels{"app": "web"}, client.MatchingFields{"metadata.name": "web"}, client.Limit(1)))
	if len(list.Items) != 1 || list.Items[0].UID != only.UID {
		t.Errorf("listed %d", len(list.Items))
	}

	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "made"}}
	for i, want := range []controllerutil.OperationResult{controllerutil.OperationResultCreated, controllerutil.OperationResultNone} {
		got, err := controllerutil.CreateOrPatch(ctx, c, cm, func() error {
			cm.Data = map[string]string{"k": "v"}
			return controllerutil.SetControllerReference(d, cm, c.Scheme())
		})
		if err != nil || got != want {
			t.Errorf("%d: %s, %v", i, got, err)
		}
	}
	if err := c.Delete(ctx, cm, client.Preconditions{ResourceVersion: new("1")}); !apierrors.IsConflict(err) {
		t.Errorf("a deletion with an old resourceVersion: %v", err)
	}
	good("deletecollection", c.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace(ns), client.MatchingFields{"metadata.name": "made"}))
	if err := c.Get(ctx, client.ObjectKeyFromObject(cm), cm); !apierrors.IsNotFound(err) {
		t.Errorf("after the deletion: %v", err)
	}
	good("delete", c.Delete(ctx, d, client.PropagationPolicy(metav1.DeletePropagationOrphan)))
	good("get", c.Get(ctx, key, d))
	if len(d.Finalizers) != 1 || d.Finalizers[0] != metav1.FinalizerOrphanDependents {
		t.Errorf("finalizers %v", d.Finalizers)
	}
}

// runtimeApply applies typed configurations, of the object and of its status.
func runtimeApply(t *testing.T, c client.Client, ns string) {
	t.Helper()
	configuration := func(image string) *appsapply.DeploymentApplyConfiguration {
		return appsapply.Deployment("web", ns).WithSpec(appsapply.DeploymentSpec().
			WithTemplate(coreapply.PodTemplateSpec().WithSpec(coreapply.PodSpec().WithContainers(coreapply.Container().WithName("web").WithImage(image)))))
	}
	err := c.Apply(t.Context(), configuration("web:3"), client.FieldOwner("applier"))
	if !apierrors.IsConflict(err) {
		t.Errorf("a conflict: %v", err)
	}
	applied := configuration("web:3")
	if err := c.Apply(t.Context(), applied, client.FieldOwner("applier"), client.ForceOwnership); err != nil {
		t.Fatal(err)
	}
	if len(applied.Spec.Template.Spec.Containers) != 2 || *applied.Spec.Template.Spec.Containers[0].Image != "web:3" {
		t.Errorf("applied: %v", applied.Spec.Template.Spec.Containers)
	}
	status := appsapply.Deployment("web", ns).WithStatus(appsapply.DeploymentStatus().WithConditions(
		appsapply.DeploymentCondition().WithType("Told").WithStatus(corev1.ConditionTrue)))
	if err := c.Status().Apply(t.Context(), status, client.FieldOwner("teller")); err != nil {
		t.Fatal(err)
	}
	if len(status.Status.Conditions) != 1 {
		t.Errorf("applied: %v", status.Status)
	}
	owned := coreapply.ConfigMap("owned", ns).WithOwnerReferences(metaapply.OwnerReference().
		WithAPIVersion("v1").WithKind("ConfigMap").WithName("none").WithUID("u"))
	if err := c.Apply(t.Context(), owned, client.FieldOwner("applier")); err != nil || *owned.UID == "" {
		t.Errorf("created by an apply: %v", err)
	}
}

// TestRuntimeCache reads from controller-runtime's cache by a field index.
func TestRuntimeCache(t *testing.T) {
	g, ns, _ := quiet(t)
	kept, err := cache.New(g.config, cache.Options{DefaultNamespaces: map[string]cache.Config{ns: {}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if err := kept.IndexField(ctx, &corev1.ConfigMap{}, "data.of", func(o client.Object) []string {
		return []string{o.(*corev1.ConfigMap).Data["of"]}
	}); err != nil {
		t.Fatal(err)
	}
	go kept.Start(ctx)
	c, err := client.New(g.config, client.Options{Cache: &client.CacheOptions{Reader: kept}})
	if err != nil {
		t.Fatal(err)
	}
	informer, err := kept.GetInformer(ctx, &corev1.ConfigMap{})
	if err != nil || !kept.WaitForCacheSync(ctx) {
		t.Fatal("no cache ", err)
	}
	seen := make(chan string, 10)
	if _, err := informer.AddEventHandler(handler(func(o client.Object) {
		if o.GetLabels()["clients"] != "" {
			seen <- o.GetName()
		}
	})); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Labels: map[string]string{"clients": "x"}}, Data: map[string]string{"of": map[bool]string{true: "one", false: "two"}[name == "a"]}}
		if err := c.Create(ctx, cm); err != nil {
			t.Fatal(err)
		}
		for <-seen != name {
		}
	}
	list := &corev1.ConfigMapList{}
	if err := c.List(ctx, list, client.MatchingFields{"data.of": "two"}); err != nil || len(list.Items) != 2 {
		t.Errorf("%d by the index, %v", len(list.Items), err)
	}
	if err := c.Get(ctx, client.ObjectKey{Namespace: ns, Name: "a"}, &corev1.ConfigMap{}); err != nil {
		t.Error(err)
	}
}

// handler is called with objects that were added.
type handler func(client.Object)

func (h handler) OnAdd(o any, _ bool) { h(o.(client.Object)) }
func (handler) OnUpdate(any, any)     {}
func (handler) OnDelete(any)          {}
