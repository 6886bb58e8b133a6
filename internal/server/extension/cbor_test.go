package extension_test

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	clientfeatures "k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/rest"

	"fairlead.dev/server"
	"fairlead.dev/storage/local"
)

// heard records the content types other than CBOR that pass a transport.
type heard struct {
	http.RoundTripper
	foreign map[string]bool
}

func (h heard) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := h.RoundTripper.RoundTrip(req)
	if err == nil {
		for _, kind := range []string{req.Header.Get("Content-Type"), resp.Header.Get("Content-Type")} {
			if kind != "" && !strings.Contains(kind, "cbor") {
				h.foreign[kind] = true
			}
		}
	}
	return resp, err
}

// TestCBOR uses client-go's dynamic client with CBOR on a custom kind.
func TestCBOR(t *testing.T) {
	featurestesting.SetFeatureDuringTest(t, clientfeatures.ClientsAllowCBOR, true)
	featurestesting.SetFeatureDuringTest(t, clientfeatures.ClientsPreferCBOR, true)
	store, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	s := serveWith(t, server.Config{Store: store, CBOR: true})
	s.ask(t, "POST", definitions, withConditions, 201)
	foreign := map[string]bool{}
	c, err := dynamic.NewForConfig(&rest.Config{
		Host: s.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true},
		WrapTransport: func(rt http.RoundTripper) http.RoundTripper { return heard{rt, foreign} },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	gadgets := c.Resource(schema.GroupVersionResource{Group: "shop.example.com", Version: "v1", Resource: "gadgets"}).Namespace("default")
	gadget := func(spec map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "shop.example.com/v1", "kind": "Gadget", "metadata": map[string]any{"name": "g"}, "spec": spec,
		}}
	}
	size := func(u *unstructured.Unstructured, err error) int64 {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		n, _, err := unstructured.NestedInt64(u.Object, "spec", "size")
		if err != nil || u.GetKind() != "Gadget" {
			t.Fatal(err, u)
		}
		return n
	}
	events, err := gadgets.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	if n := size(gadgets.Create(ctx, gadget(map[string]any{}), metav1.CreateOptions{})); n != 2 {
		t.Errorf("the default is not there: %d", n)
	}
	if n := size(gadgets.Apply(ctx, "g", gadget(map[string]any{"size": int64(3)}), metav1.ApplyOptions{FieldManager: "m", Force: true})); n != 3 {
		t.Errorf("applied: %d", n)
	}
	_, err = gadgets.Update(ctx, gadget(map[string]any{"size": int64(4), "odd": true}), metav1.UpdateOptions{FieldValidation: "Strict"})
	if err == nil || !strings.Contains(err.Error(), `strict decoding error: unknown field "spec.odd"`) {
		t.Errorf("strictly: %v", err)
	}
	if _, err = gadgets.Apply(ctx, "g", gadget(map[string]any{"size": "big"}), metav1.ApplyOptions{FieldManager: "m"}); err == nil {
		t.Error("a size that is a word was applied")
	}
	if n := size(gadgets.Get(ctx, "g", metav1.GetOptions{})); n != 3 {
		t.Errorf("got: %d", n)
	}
	list, err := gadgets.List(ctx, metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 || list.GetKind() != "GadgetList" || size(&list.Items[0], nil) != 3 {
		t.Fatal(err, list)
	}
	if err := gadgets.Delete(ctx, "g", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted} {
		if e := <-events.ResultChan(); e.Type != want || e.Object.(*unstructured.Unstructured).GetKind() != "Gadget" {
			t.Errorf("%s %v, want %s", e.Type, e.Object, want)
		}
	}
	if len(foreign) != 0 {
		t.Errorf("not all is CBOR: %v", foreign)
	}
}

// withConditions defines a kind whose status has conditions.
const withConditions = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gadgets.shop.example.com"},
"spec":{"group":"shop.example.com","scope":"Namespaced","names":{"plural":"gadgets","kind":"Gadget"},"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer","format":"int32","default":2}}},
"status":{"type":"object","properties":{"conditions":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["type"],"items":{"type":"object","required":["type","status"],
"properties":{"type":{"type":"string"},"status":{"type":"string"},"reason":{"type":"string"},"message":{"type":"string"},"observedGeneration":{"type":"integer","format":"int64"},"lastTransitionTime":{"type":"string","format":"date-time"}}}}}}}}}}]}}`
