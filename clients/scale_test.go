package clients_test

import (
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/disk"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
)

// TestScaleClient scales every kind with a scale subresource, which the scale client finds by
// discovery.
func TestScaleClient(t *testing.T) {
	g, ns, run := quiet(t)
	maker, err := dynamic.NewForConfig(g.config)
	if err != nil {
		t.Fatal(err)
	}
	found := discovery.NewDiscoveryClientForConfigOrDie(g.config)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(found))
	scales, err := scale.NewForConfig(g.config, mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(found))
	if err != nil {
		t.Fatal(err)
	}
	scaled := 0
	for _, k := range kinds(t, g, ns, run) {
		if !k.subresource["scale"] {
			continue
		}
		scaled++
		o, err := maker.Resource(k.gvr).Namespace(ns).Create(t.Context(), k.object(), metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		gr, s := k.gvr.GroupResource(), scales.Scales(ns)
		now, err := s.Get(t.Context(), gr, run, metav1.GetOptions{})
		if err != nil || now.Spec.Replicas != 0 || now.Status.Selector == "" || now.UID != o.GetUID() {
			t.Fatalf("%s: %v, %v", gr, now, err)
		}
		now.Spec.Replicas = 3
		after, err := s.Update(t.Context(), gr, now, metav1.UpdateOptions{})
		if err != nil || after.Spec.Replicas != 3 {
			t.Errorf("%s: %v, %v", gr, after, err)
		}
		if _, err := s.Update(t.Context(), gr, now, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			t.Errorf("%s, a scale with an old resourceVersion: %v", gr, err)
		}
		after, err = s.Patch(t.Context(), k.gvr, run, types.MergePatchType, []byte(`{"spec":{"replicas":5}}`), metav1.PatchOptions{})
		if err != nil || after.Spec.Replicas != 5 {
			t.Errorf("%s: %v, %v", gr, after, err)
		}
		if _, err := s.Update(t.Context(), gr, &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: run, Namespace: ns}, Spec: autoscalingv1.ScaleSpec{Replicas: -1}}, metav1.UpdateOptions{}); !apierrors.IsInvalid(err) {
			t.Errorf("%s, a negative scale: %v", gr, err)
		}
		if _, err := s.Get(t.Context(), gr, "none", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("%s, the scale of an object that does not exist: %v", gr, err)
		}
	}
	if scaled != 4 {
		t.Errorf("%d kinds scale", scaled)
	}
}

// TestCachedDiscovery finds kinds through client-go's discovery caches on disk and in memory.
func TestCachedDiscovery(t *testing.T) {
	g, _, _ := quiet(t)
	kept, err := disk.NewCachedDiscoveryClientForConfig(g.config, t.TempDir(), t.TempDir(), 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []discovery.CachedDiscoveryInterface{kept, memory.NewMemCacheClient(discovery.NewDiscoveryClientForConfigOrDie(g.config))} {
		for range 2 { // from the server, then from the cache
			mapper := restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(c), c, nil)
			for short, want := range map[string]string{
				"po": "/v1, Resource=pods", "deploy": "apps/v1, Resource=deployments", "ing": "networking.k8s.io/v1, Resource=ingresses",
				"crd": "apiextensions.k8s.io/v1, Resource=customresourcedefinitions", "events": "/v1, Resource=events", "hpa": "autoscaling/v2, Resource=horizontalpodautoscalers",
			} {
				if got, err := mapper.ResourceFor(schema.GroupVersionResource{Resource: short}); err != nil || got.String() != want {
					t.Errorf("%s is %v, %v", short, got, err)
				}
			}
			preferred, err := c.ServerPreferredResources()
			if err != nil || len(preferred) < 15 {
				t.Errorf("%d groups, %v", len(preferred), err)
			}
		}
		c.Invalidate()
		if c.Fresh() != (c == discovery.CachedDiscoveryInterface(kept)) && c.Fresh() {
			t.Error("fresh after it was thrown away")
		}
	}
	v3, err := kept.OpenAPIV3().Paths()
	if err != nil || v3["apis/apps/v1"] == nil {
		t.Errorf("%d paths, %v", len(v3), err)
	}
	if doc, err := kept.OpenAPISchema(); err != nil || len(doc.Definitions.AdditionalProperties) < 500 {
		t.Errorf("OpenAPI v2 in protobuf: %v", err)
	}
	if v, err := kept.ServerVersion(); err != nil || v.Major != "1" {
		t.Errorf("%v, %v", v, err)
	}
}
