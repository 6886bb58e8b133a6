package clients_test

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
)

// TestMetadataClient reads, patches and deletes objects of every kind with the metadata
// client, which requests PartialObjectMetadata in protobuf.
func TestMetadataClient(t *testing.T) {
	g, ns, run := quiet(t)
	maker, err := dynamic.NewForConfig(g.config)
	if err != nil {
		t.Fatal(err)
	}
	client, err := metadata.NewForConfig(g.config)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range kinds(t, g, ns, run) {
		t.Run(k.gvr.GroupVersion().String()+"."+k.Kind, func(t *testing.T) {
			ctx, name := t.Context(), k.obj.GetName()
			made, err := maker.Resource(k.gvr).Namespace(k.obj.GetNamespace()).Create(ctx, k.object(), metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			r := client.Resource(k.gvr).Namespace(k.obj.GetNamespace())
			o, err := r.Get(ctx, name, metav1.GetOptions{})
			if err != nil || o.UID != made.GetUID() || !o.CreationTimestamp.Equal(new(made.GetCreationTimestamp())) {
				t.Fatalf("%v, %v", o, err)
			}
			w, err := r.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name, ResourceVersion: o.ResourceVersion})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Stop()
			seen := &following{t: t, w: w}
			o, err = r.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"labels":{"clients":"patched"}}}`), metav1.PatchOptions{})
			if err != nil || o.Labels["clients"] != "patched" {
				t.Fatalf("%v, %v", o, err)
			}
			seen.next(watch.Modified, "patched")
			list, err := r.List(ctx, metav1.ListOptions{LabelSelector: "clients=patched", FieldSelector: "metadata.name=" + name})
			if err != nil || len(list.Items) != 1 || list.Items[0].UID != o.UID || list.ResourceVersion == "" {
				t.Errorf("%v, %v", list, err)
			}
			if contains(k.Verbs, "deletecollection") {
				err = r.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
			} else {
				err = r.Delete(ctx, name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(o.UID))})
			}
			if err != nil {
				t.Error(err)
			}
			if o, err := r.Get(ctx, name, metav1.GetOptions{}); err == nil && o.DeletionTimestamp == nil || err != nil && !apierrors.IsNotFound(err) {
				t.Errorf("after the deletion: %v, %v", o, err)
			}
		})
	}
}
