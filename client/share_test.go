package client_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/testenv"
)

// TestShareObjects: readers that share objects have each version of an object once, if they read it in the same way; all others
// have their own.
func TestShareObjects(t *testing.T) {
	env := testenv.New(t, testenv.Options{NoNodes: true, NoScheduler: true, Controllers: []string{}})
	ctx := t.Context()
	maps := func(o client.Options) client.Resource[*corev1.ConfigMap] {
		c, err := client.New(env.Config(), o)
		if err != nil {
			t.Fatal(err)
		}
		return client.For[*corev1.ConfigMap](c).Namespace("default")
	}
	for _, form := range []string{client.ContentTypeJSON, client.ContentTypeProtobuf} {
		shares := client.Options{ShareObjects: true, ContentType: form}
		one, other := maps(shares).Interned(nil), maps(shares).Interned(nil)
		name := "json"
		if form == client.ContentTypeProtobuf {
			name = "protobuf"
		}
		made, err := one.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Data: map[string]string{"a": "1"}})
		if err != nil {
			t.Fatal(err)
		}
		get := func(r client.Resource[*corev1.ConfigMap]) *corev1.ConfigMap {
			t.Helper()
			o, err := r.Get(ctx, name)
			if err != nil {
				t.Fatal(err)
			}
			return o
		}
		first := get(one)
		if get(other) != first || made != first {
			t.Errorf("%s: readers that share objects have the same version twice", name)
		}
		w, err := other.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
		if err != nil {
			t.Fatal(err)
		}
		if ev, err := w.Next(ctx); err != nil || ev.Object != first {
			t.Errorf("%s: a watch has another object, %v", name, err)
		}
		w.Stop()
		bare := one.WithoutManagedFields()
		if o := get(bare); o == first || o.ManagedFields != nil || get(other.WithoutManagedFields()) != o || first.ManagedFields == nil {
			t.Errorf("%s: the version without managed fields is %+v", name, o)
		}
		for reader, r := range map[string]client.Resource[*corev1.ConfigMap]{
			"a reader that may modify objects": maps(shares), "a client that does not share": maps(client.Options{ContentType: form}).Interned(nil),
		} {
			if get(r) == first {
				t.Errorf("%s: %s got the shared object", name, reader)
			}
		}
		changed := first.DeepCopy()
		changed.Data["a"] = "2"
		next, err := one.Update(ctx, changed)
		if err != nil || next == first || get(other) != next || first.Data["a"] != "1" {
			t.Errorf("%s: the next version is %+v, %v", name, next, err)
		}
	}
}
