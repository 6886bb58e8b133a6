package clientsuite

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/client"
)

// heads writes with an access that does not look at more of the answers than whose they are.
func heads[T client.Object](t *testing.T, a access[T]) {
	ctx, r := t.Context(), a.MetadataOnly()
	same := func(what string, got T, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		now, err := a.Get(ctx, got.GetName())
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if got.GetUID() != now.GetUID() || got.GetResourceVersion() != now.GetResourceVersion() || got.GetNamespace() != now.GetNamespace() ||
			got.GetObjectKind().GroupVersionKind() != now.GetObjectKind().GroupVersionKind() {
			t.Errorf("%s: the head is %v, the object %v", what, got, now)
		}
	}
	changed, err := r.Patch(ctx, "headed", client.MergePatch(map[string]any{"metadata": map[string]any{"labels": map[string]string{"color": "blue"}}}))
	same("patch", changed, err)
	if a.make != nil {
		made := a.make("", "red")
		made.SetGenerateName("head-")
		made, err = r.Create(ctx, made)
		same("create", made, err)
		change := a.make(made.GetName(), "green")
		change.SetResourceVersion(made.GetResourceVersion())
		changed, err := r.Update(ctx, change)
		same("update", changed, err)
		_, err = r.Update(ctx, change)
		refused(t, "an update of what has changed", err, client.ErrConflict)
	}
	if whole, err := r.Get(ctx, "headed"); err != nil || whole.GetLabels()["color"] != "blue" {
		t.Errorf("what is read is not whole: %v, %v", whole, err)
	}
}

// withoutManaged reads objects without managedFields, by every reading verb, and writes one
// back: the server still has its managed fields.
func withoutManaged[T client.Object](t *testing.T, a access[T], made *corev1.ConfigMap, plain client.Resource[*corev1.ConfigMap]) {
	ctx, r := t.Context(), a.WithoutManagedFields()
	check := func(what string, got T, err error) {
		t.Helper()
		if err != nil || got.GetUID() != made.UID || got.GetManagedFields() != nil || got.GetLabels()["color"] != "red" {
			t.Errorf("%s: %v, %v", what, got, err)
		}
	}
	got, err := r.Get(ctx, made.Name)
	check("get", got, err)
	only := metav1.SingleObject(made.ObjectMeta)
	only.ResourceVersion = ""
	list, err := r.List(ctx, only)
	if err != nil || len(list.Items) != 1 {
		t.Fatal(list, err)
	}
	check("list", list.Items[0], err)
	for _, reader := range []client.Resource[T]{r, r.Interned(nil), a.Interned(nil).WithoutManagedFields()} {
		w, err := reader.Watch(ctx, only)
		if err != nil {
			t.Fatal(err)
		}
		ev, err := w.Next(ctx)
		if ev.Type != watch.Added {
			t.Error(ev.Type)
		}
		check("watch", ev.Object, err)
		w.Stop()
	}
	if a.make == nil {
		return
	}
	before, err := plain.Get(ctx, made.Name)
	if err != nil || len(before.ManagedFields) == 0 {
		t.Fatal(before, err)
	}
	got, err = r.Update(ctx, got)
	check("update", got, err)
	after, err := plain.Get(ctx, made.Name)
	if err != nil || !reflect.DeepEqual(after.ManagedFields, before.ManagedFields) {
		t.Errorf("an update without managedFields made of %v\n%v, %v", before.ManagedFields, after.ManagedFields, err)
	}
}
