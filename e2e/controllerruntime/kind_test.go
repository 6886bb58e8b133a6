// Package controllerruntime_test tests controllers and webhooks that are built with
// controller-runtime against the server.
package controllerruntime_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/testenv"
)

// Gadget is a kind as kubebuilder scaffolds it.
type Gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              GadgetSpec   `json:"spec,omitempty"`
	Status            GadgetStatus `json:"status,omitempty"`
}

// GadgetSpec is the desired state.
type GadgetSpec struct {
	Size *int32 `json:"size,omitempty"`
}

// GadgetStatus is the observed state.
type GadgetStatus struct {
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (g *Gadget) DeepCopyObject() runtime.Object {
	out := *g
	g.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = append([]metav1.Condition(nil), g.Status.Conditions...)
	return &out
}

// GadgetList is a list of Gadgets.
type GadgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Gadget `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (l *GadgetList) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = append([]Gadget(nil), l.Items...)
	return &out
}

const withConditions = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gadgets.shop.example.com"},
"spec":{"group":"shop.example.com","scope":"Namespaced","names":{"plural":"gadgets","kind":"Gadget"},"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer","format":"int32","default":2}}},
"status":{"type":"object","properties":{"conditions":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["type"],"items":{"type":"object","required":["type","status"],
"properties":{"type":{"type":"string"},"status":{"type":"string"},"reason":{"type":"string"},"message":{"type":"string"},"observedGeneration":{"type":"integer","format":"int64"},"lastTransitionTime":{"type":"string","format":"date-time"}}}}}}}}}}]}}`

// TestCustomKind uses a custom kind with Go types.
func TestCustomKind(t *testing.T) {
	config := testenv.New(t, testenv.Options{NoControllers: true, NoScheduler: true, NoNodes: true}).Config()
	definition := &unstructured.Unstructured{}
	if err := definition.UnmarshalJSON([]byte(withConditions)); err != nil {
		t.Fatal(err)
	}
	admin, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := admin.Create(t.Context(), definition); err != nil {
		t.Fatal(err)
	}
	gv := schema.GroupVersion{Group: "shop.example.com", Version: "v1"}
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(gv, &Gadget{}, &GadgetList{})
	metav1.AddToGroupVersion(scheme, gv)
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	w, err := c.Watch(ctx, &GadgetList{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	g := &Gadget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "g"}}
	if err := c.Create(ctx, g); err != nil || g.Spec.Size == nil || *g.Spec.Size != 2 {
		t.Fatal(err, g)
	}
	before := g.DeepCopyObject().(*Gadget)
	g.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True", Reason: "Done", LastTransitionTime: metav1.Now(), ObservedGeneration: g.Generation}}
	if err := c.Status().Patch(ctx, g, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	if err := c.Patch(ctx, &Gadget{TypeMeta: metav1.TypeMeta{APIVersion: gv.String(), Kind: "Gadget"}, ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "g", Labels: map[string]string{"a": "b"}}},
		client.RawPatch("application/apply-patch+yaml", []byte(`{"apiVersion":"shop.example.com/v1","kind":"Gadget","metadata":{"name":"g","labels":{"a":"b"}},"spec":{"size":3}}`)),
		client.FieldOwner("me"), client.ForceOwnership); err != nil {
		t.Fatal(err)
	}
	var list GadgetList
	if err := c.List(ctx, &list, client.MatchingLabels{"a": "b"}); err != nil || len(list.Items) != 1 || *list.Items[0].Spec.Size != 3 || len(list.Items[0].Status.Conditions) != 1 || list.Items[0].Generation != 2 {
		t.Fatalf("%v %+v", err, list)
	}
	var partial metav1.PartialObjectMetadataList
	partial.SetGroupVersionKind(gv.WithKind("GadgetList"))
	if err := c.List(ctx, &partial); err != nil || len(partial.Items) != 1 || partial.Items[0].Name != "g" {
		t.Fatalf("%v %+v", err, partial)
	}
	if err := c.Delete(ctx, g); err != nil {
		t.Fatal(err)
	}
	for _, want := range []watch.EventType{watch.Added, watch.Modified, watch.Modified, watch.Deleted} {
		if e := <-w.ResultChan(); e.Type != want || e.Object.(*Gadget).Name != "g" {
			t.Errorf("%s, want %s", e.Type, want)
		}
	}
}
