package clients_test

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// TestDynamicClient uses every method of the dynamic client on an object of every kind.
func TestDynamicClient(t *testing.T) {
	g, ns, run := quiet(t)
	client, err := dynamic.NewForConfig(g.config)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range kinds(t, g, ns, run) {
		t.Run(k.gvr.GroupVersion().String()+"."+k.Kind, func(t *testing.T) {
			var r dynamic.ResourceInterface = client.Resource(k.gvr)
			if k.Namespaced {
				r = client.Resource(k.gvr).Namespace(ns)
			}
			(&dynamicLife{T: t, ctx: t.Context(), kind: k, r: r}).run()
		})
	}
}

type dynamicLife struct {
	*testing.T
	ctx context.Context
	kind
	r dynamic.ResourceInterface
}

func (l *dynamicLife) must(what string, o *unstructured.Unstructured, err error) *unstructured.Unstructured {
	l.Helper()
	if err != nil {
		l.Fatalf("%s: %v", what, err)
	}
	if o.GetName() != l.obj.GetName() || o.GetUID() == "" || o.GetKind() != l.Kind {
		l.Fatalf("%s answered %v", what, o)
	}
	return o
}

func (l *dynamicLife) run() {
	name := l.obj.GetName()
	if _, err := l.r.Get(l.ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		l.Fatalf("before anything: %v", err)
	}
	dry, err := l.r.Create(l.ctx, l.object(), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	l.must("a dry run", dry, err)
	if dry.GetResourceVersion() != "" {
		l.Errorf("a dry run has revision %s", dry.GetResourceVersion())
	}
	o, err := l.r.Create(l.ctx, l.object(), metav1.CreateOptions{FieldManager: "maker", FieldValidation: "Strict"})
	first := l.must("create", o, err)
	if _, err := l.r.Create(l.ctx, l.object(), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		l.Errorf("created twice: %v", err)
	}
	o, err = l.r.Get(l.ctx, name, metav1.GetOptions{})
	if l.must("get", o, err); l.Kind == "CustomResourceDefinition" || l.Kind == "FlowSchema" {
		o = l.described()
		first = o.DeepCopy()
	} else if o.GetResourceVersion() != first.GetResourceVersion() {
		l.Errorf("got %s, made %s", o.GetResourceVersion(), first.GetResourceVersion())
	}
	w, err := l.r.Watch(l.ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name, ResourceVersion: first.GetResourceVersion()})
	if err != nil {
		l.Fatal(err)
	}
	defer w.Stop()
	seen := &following{t: l.T, w: w}

	o = l.updateNothing()
	o.SetLabels(map[string]string{"clients": "update"})
	o, err = l.r.Update(l.ctx, o, metav1.UpdateOptions{FieldManager: "maker"})
	l.must("update", o, err)
	seen.next(watch.Modified, "update")
	if o.GetGeneration() != first.GetGeneration() && l.Kind != "EndpointSlice" { // there labels count
		l.Errorf("generation %d after a new label, was %d", o.GetGeneration(), first.GetGeneration())
	}
	first.SetLabels(map[string]string{"clients": "late"})
	if _, err := l.r.Update(l.ctx, first, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		l.Errorf("an update with an old resourceVersion: %v", err)
	}
	l.patches(seen)
	l.apply(seen)
	l.lists()
	l.end(seen)
}

// described waits until the server has written the object's status.
func (l *dynamicLife) described() *unstructured.Unstructured {
	w, err := l.r.Watch(l.ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + l.obj.GetName()})
	if err != nil {
		l.Fatal(err)
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		o := e.Object.(*unstructured.Unstructured)
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		for _, c := range conditions {
			if typ := c.(map[string]any)["type"]; typ == "Established" || typ == "Dangling" {
				return o
			}
		}
	}
	l.Fatal("the server wrote no status")
	return nil
}

// updateNothing sends an update without changes, which the server must not write. The server
// writes some kinds itself soon after their creation, so a second try can be necessary.
func (l *dynamicLife) updateNothing() *unstructured.Unstructured {
	for range 5 {
		o, err := l.r.Get(l.ctx, l.obj.GetName(), metav1.GetOptions{})
		l.must("get", o, err)
		same, err := l.r.Update(l.ctx, o.DeepCopy(), metav1.UpdateOptions{FieldManager: "maker"})
		if apierrors.IsConflict(err) {
			continue
		}
		if l.must("an update without changes", same, err); same.GetResourceVersion() == o.GetResourceVersion() {
			return same
		}
	}
	l.Fatal("an update without changes was written")
	return nil
}

// patches sends the three kinds of patches that are not applied configurations.
func (l *dynamicLife) patches(seen *following) {
	for typ, patch := range map[types.PatchType]string{
		types.JSONPatchType:           `[{"op":"test","path":"/metadata/labels/clients","value":%q},{"op":"replace","path":"/metadata/labels/clients","value":%q}]`,
		types.MergePatchType:          `{"metadata":{"labels":{"old":%q,"clients":%q}}}`,
		types.StrategicMergePatchType: `{"metadata":{"labels":{"old":%q,"clients":%q}}}`,
	} {
		o, err := l.r.Get(l.ctx, l.obj.GetName(), metav1.GetOptions{})
		l.must("get", o, err)
		word := string(typ[len("application/"):][:4])
		o, err = l.r.Patch(l.ctx, l.obj.GetName(), typ, fmt.Appendf(nil, patch, o.GetLabels()["clients"], word), metav1.PatchOptions{FieldManager: "patcher"})
		l.must(string(typ), o, err)
		seen.next(watch.Modified, word)
	}
	if _, err := l.r.Patch(l.ctx, l.obj.GetName(), types.MergePatchType, []byte(`{"metadata":{"resourceVersion":"1","labels":{"x":"y"}}}`), metav1.PatchOptions{}); !apierrors.IsConflict(err) {
		l.Errorf("a patch with an old resourceVersion: %v", err)
	}
	if _, err := l.r.Patch(l.ctx, "no-such", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{}); !apierrors.IsNotFound(err) {
		l.Errorf("a patch of an object that does not exist: %v", err)
	}
}

// apply sends configurations of two managers that want the same field.
func (l *dynamicLife) apply(seen *following) {
	configuration := &unstructured.Unstructured{Object: map[string]any{"apiVersion": l.obj.GetAPIVersion(), "kind": l.Kind}}
	configuration.SetName(l.obj.GetName())
	configuration.SetNamespace(l.obj.GetNamespace())
	configuration.SetLabels(map[string]string{"clients": "applied"})
	_, err := l.r.Apply(l.ctx, l.obj.GetName(), configuration, metav1.ApplyOptions{FieldManager: "applier"})
	if !apierrors.IsConflict(err) {
		l.Errorf("a conflict: %v", err)
	} else if causes := err.(apierrors.APIStatus).Status().Details.Causes; len(causes) != 1 || causes[0].Type != metav1.CauseTypeFieldManagerConflict || causes[0].Field != ".metadata.labels.clients" {
		l.Errorf("a conflict about %v", causes)
	}
	o, err := l.r.Apply(l.ctx, l.obj.GetName(), configuration, metav1.ApplyOptions{FieldManager: "applier", Force: true})
	l.must("a forced apply", o, err)
	seen.next(watch.Modified, "applied")
	again, err := l.r.Apply(l.ctx, l.obj.GetName(), configuration, metav1.ApplyOptions{FieldManager: "applier"})
	if l.must("the same again", again, err); again.GetResourceVersion() != o.GetResourceVersion() {
		l.Error("the same applied again was written")
	}
	managers := map[string]metav1.ManagedFieldsOperationType{}
	for _, m := range o.GetManagedFields() {
		managers[m.Manager] = m.Operation
	}
	if managers["applier"] != metav1.ManagedFieldsOperationApply {
		l.Errorf("managers %v", managers)
	}
}

func (l *dynamicLife) lists() {
	for selector, want := range map[string]int{"clients=applied": 1, "clients notin (applied),clients": 0} {
		list, err := l.r.List(l.ctx, metav1.ListOptions{LabelSelector: selector, FieldSelector: "metadata.name=" + l.obj.GetName()})
		if err != nil || len(list.Items) != want || list.GetKind() != l.Kind+"List" || list.GetResourceVersion() == "" {
			l.Errorf("%s selects %d, %v", selector, len(list.Items), err)
		}
	}
}

func (l *dynamicLife) end(seen *following) {
	name, other := l.obj.GetName(), types.UID("other")
	if err := l.r.Delete(l.ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &other}}); !apierrors.IsConflict(err) {
		l.Errorf("a deletion of another: %v", err)
	}
	if err := l.r.Delete(l.ctx, name, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
		l.Errorf("a dry run of a deletion: %v", err)
	}
	if _, err := l.r.Get(l.ctx, name, metav1.GetOptions{}); err != nil {
		l.Errorf("after it: %v", err)
	}
	if !contains(l.Verbs, "deletecollection") { // namespaces
		if err := l.r.Delete(l.ctx, name, metav1.DeleteOptions{}); err != nil {
			l.Errorf("delete: %v", err)
		}
		return
	}
	if err := l.r.DeleteCollection(l.ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "clients=applied", FieldSelector: "metadata.name=" + name}); err != nil {
		l.Errorf("deletecollection: %v", err)
	}
	o, err := l.r.Get(l.ctx, name, metav1.GetOptions{})
	if err == nil && len(o.GetFinalizers()) > 0 { // held, as claims and volumes are
		if o.GetDeletionTimestamp() == nil {
			l.Error("held without a time of deletion")
		}
		// The finalizer's owner, such as the server for a definition, may remove it first.
		if _, err := l.r.Patch(l.ctx, name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil && !apierrors.IsNotFound(err) {
			l.Errorf("released: %v", err)
		}
		_, err = l.r.Get(l.ctx, name, metav1.GetOptions{})
	}
	if !apierrors.IsNotFound(err) {
		l.Errorf("after the deletion: %v", err)
	}
	seen.next(watch.Deleted, "applied")
}

// following is a watch of one object.
type following struct {
	t    *testing.T
	w    watch.Interface
	last string
}

// next expects an event of the object with a value of its label. It skips modifications
// that do not change the label, which are the server's own writes.
func (f *following) next(e watch.EventType, label string) {
	f.t.Helper()
	for got := range f.w.ResultChan() {
		o, ok := got.Object.(metav1.Object)
		if ok && got.Type == watch.Modified && o.GetLabels()["clients"] == f.last {
			continue
		}
		if !ok || got.Type != e || o.GetLabels()["clients"] != label {
			f.t.Errorf("seen %s %v, want %s with %q", got.Type, got.Object, e, label)
		}
		f.last = label
		return
	}
	f.t.Fatal("the watch has ended")
}
