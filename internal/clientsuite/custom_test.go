package clientsuite_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/client"
	"fairlead.dev/informer"
	"fairlead.dev/testenv"
)

// buoys are a kind of two versions that differ in their name, with a status and a scale.
const buoys = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"buoys.sea.example.com"},
"spec":{"group":"sea.example.com","scope":"Namespaced","names":{"plural":"buoys","kind":"Buoy"},"versions":[
{"name":"v1","served":true,"storage":true,"subresources":{"status":{},"scale":{"specReplicasPath":".spec.bells","statusReplicasPath":".status.bells"}},"schema":%[1]s},
{"name":"v2","served":true,"storage":false,"subresources":{"status":{}},"schema":%[1]s}]}}`

const buoySchema = `{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"bells":{"type":"integer","minimum":0,"default":1}}},
"status":{"type":"object","properties":{"bells":{"type":"integer"}}}}}}`

// shown is an informer's state: for each object its desired and its present bells.
type shown struct {
	of   string
	mu   sync.Mutex
	now  map[string]string
	bell chan struct{}
}

func newShown(of string) *shown {
	return &shown{of: of, now: map[string]string{}, bell: make(chan struct{}, 1)}
}

func (s *shown) put(u *unstructured.Unstructured) {
	want, _, _ := unstructured.NestedInt64(u.Object, "spec", "bells")
	has, _, _ := unstructured.NestedInt64(u.Object, "status", "bells")
	s.set(u.GetName(), fmt.Sprintf("%s %d/%d", u.GroupVersionKind().Version, has, want))
}

func (s *shown) set(name, state string) {
	s.mu.Lock()
	s.now[name] = state
	s.mu.Unlock()
	select {
	case s.bell <- struct{}{}:
	default:
	}
}

// until waits for the object's state, "" for gone.
func (s *shown) until(t *testing.T, name, state string) {
	t.Helper()
	for {
		s.mu.Lock()
		now := s.now[name]
		s.mu.Unlock()
		if now == state {
			return
		}
		select {
		case <-s.bell:
		case <-t.Context().Done():
			t.Fatalf("%s: %s is %q, want %q", s.of, name, now, state)
		}
	}
}

// TestInformersOfACustomKind: client-go's dynamic informers and ours see all that becomes
// of objects of a kind, each in its version; also that the kind itself goes, and comes back.
func TestInformersOfACustomKind(t *testing.T) {
	env := testenv.New(t, testenv.Options{NoControllers: true, NoScheduler: true, NoNodes: true})
	c := env.Client(t)
	crds := client.Dynamic(c, schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}, false)
	define := func() {
		t.Helper()
		crd := &unstructured.Unstructured{}
		if err := json.Unmarshal(fmt.Appendf(nil, buoys, buoySchema), crd); err != nil {
			t.Fatal(err)
		}
		if _, err := crds.Create(t.Context(), crd); err != nil {
			t.Fatal(err)
		}
	}
	define()
	v1 := schema.GroupVersionResource{Group: "sea.example.com", Version: "v1", Resource: "buoys"}
	v2 := v1.GroupResource().WithVersion("v2")
	theirs, err := dynamic.NewForConfig(env.Config())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()

	a, b := newShown("ours"), newShown("client-go's")
	ours := informer.New(client.Dynamic(c, v1, true), informer.Options[*unstructured.Unstructured]{})
	ours.Handle(informer.Handler[*unstructured.Unstructured]{
		Add:    func(u *unstructured.Unstructured, _ bool) { a.put(u) },
		Update: func(_, u *unstructured.Unstructured) { a.put(u) },
		Delete: func(u *unstructured.Unstructured) { a.set(u.GetName(), "") },
	})
	done := make(chan error, 1)
	go func() { done <- ours.Run(ctx) }()
	defer func() { cancel(); <-done }()
	factory := dynamicinformer.NewDynamicSharedInformerFactory(theirs, 0)
	if _, err := factory.ForResource(v2).Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { b.put(o.(*unstructured.Unstructured)) },
		UpdateFunc: func(_, o any) { b.put(o.(*unstructured.Unstructured)) },
		DeleteFunc: func(o any) {
			if gone, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = gone.Obj
			}
			b.set(o.(*unstructured.Unstructured).GetName(), "")
		},
	}); err != nil {
		t.Fatal(err)
	}
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	defer cancel()
	both := func(name, state string) {
		t.Helper()
		for _, s := range []*shown{a, b} {
			want := state
			if want != "" {
				want = map[*shown]string{a: "v1 ", b: "v2 "}[s] + state
			}
			s.until(t, name, want)
		}
	}

	writes := theirs.Resource(v1).Namespace("default")
	create := func(name string, bells int64) {
		t.Helper()
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "sea.example.com/v1", "kind": "Buoy", "metadata": map[string]any{"name": name}}}
		if bells > 0 {
			u.Object["spec"] = map[string]any{"bells": bells}
		}
		if _, err := writes.Create(t.Context(), u, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	must := func(_ *unstructured.Unstructured, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	create("north", 3)
	create("south", 0)
	create("west", 0)
	both("north", "0/3")
	both("south", "0/0")
	must(writes.Patch(t.Context(), "south", types.MergePatchType, []byte(`{"spec":{"bells":5},"status":{"bells":4}}`), metav1.PatchOptions{}))
	both("south", "0/5")
	must(writes.Patch(t.Context(), "south", types.MergePatchType, []byte(`{"spec":{"bells":9},"status":{"bells":5}}`), metav1.PatchOptions{}, "status"))
	both("south", "5/5")
	must(writes.Patch(t.Context(), "south", types.MergePatchType, []byte(`{"spec":{"replicas":6}}`), metav1.PatchOptions{}, "scale"))
	both("south", "5/6")
	config := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "sea.example.com/v2", "kind": "Buoy", "metadata": map[string]any{"name": "south"}, "spec": map[string]any{"bells": int64(7)}}}
	must(theirs.Resource(v2).Namespace("default").Apply(t.Context(), "south", config, metav1.ApplyOptions{FieldManager: "me", Force: true}))
	both("south", "5/7")
	if err := writes.Delete(t.Context(), "west", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	both("west", "")

	if err := crds.Delete(t.Context(), "buoys.sea.example.com"); err != nil {
		t.Fatal(err)
	}
	both("north", "")
	both("south", "")
	gone, err := crds.Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=buoys.sea.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	defer gone.Stop()
	for {
		list, err := crds.List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=buoys.sea.example.com"})
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Items) == 0 {
			break
		}
		if _, err := gone.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	define()
	create("north", 2)
	both("north", "0/2")
}
