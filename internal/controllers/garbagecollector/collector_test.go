package garbagecollector_test

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

type configMaps = client.Resource[*corev1.ConfigMap]

func create(t *testing.T, r configMaps, name string, owners ...*corev1.ConfigMap) *corev1.ConfigMap {
	t.Helper()
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Labels: map[string]string{"test": "gc"}}}
	yes := true
	for _, o := range owners {
		m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{
			APIVersion: "v1", Kind: "ConfigMap", Name: o.Name, UID: o.UID, BlockOwnerDeletion: &yes,
		})
	}
	made, err := r.Create(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func remove(t *testing.T, r configMaps, name string, policy metav1.DeletionPropagation) {
	t.Helper()
	if err := r.Delete(t.Context(), name, metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
		t.Fatal(err)
	}
}

func TestCollection(t *testing.T) {
	env := testenv.New(t, testenv.Options{Controllers: []string{"garbagecollector"}, NoScheduler: true, NoNodes: true})
	r := client.For[*corev1.ConfigMap](env.Client(t)).Namespace("default")

	t.Run("background goes down the tree", func(t *testing.T) {
		root := create(t, r, "root")
		mid := create(t, r, "mid", root)
		for i := range 20 {
			create(t, r, fmt.Sprint("leaf", i), mid)
		}
		remove(t, r, "root", metav1.DeletePropagationBackground)
		waittest.For(t, r, "an empty tree", "test=gc", func(have map[string]*corev1.ConfigMap) bool { return len(have) == 0 })
	})

	t.Run("foreground takes the owner last", func(t *testing.T) {
		root := create(t, r, "root")
		mid := create(t, r, "mid", root)
		create(t, r, "leaf", mid)
		hold := func(finalizers ...string) {
			t.Helper()
			if _, err := r.Patch(t.Context(), "leaf", client.MergePatch(map[string]any{
				"metadata": map[string]any{"finalizers": finalizers},
			})); err != nil {
				t.Fatal(err)
			}
		}
		hold("example.com/hold")
		remove(t, r, "root", metav1.DeletePropagationForeground)
		have := waittest.For(t, r, "the leaf told to go", "test=gc", func(have map[string]*corev1.ConfigMap) bool {
			return have["leaf"] != nil && have["leaf"].DeletionTimestamp != nil
		})
		for _, name := range []string{"mid", "root"} {
			if have[name] == nil || have[name].DeletionTimestamp == nil || !slices.Contains(have[name].Finalizers, metav1.FinalizerDeleteDependents) {
				t.Errorf("%s does not wait for the leaf: %v", name, have[name])
			}
		}
		hold()
		waittest.For(t, r, "an empty tree", "test=gc", func(have map[string]*corev1.ConfigMap) bool { return len(have) == 0 })
	})

	t.Run("orphan sets the dependents free", func(t *testing.T) {
		root := create(t, r, "root")
		create(t, r, "leaf", root)
		remove(t, r, "root", metav1.DeletePropagationOrphan)
		waittest.Gone(t, r, "root")
		leaf, err := r.Get(t.Context(), "leaf")
		if err != nil || len(leaf.OwnerReferences) != 0 {
			t.Errorf("leaf: %v, %v", leaf, err)
		}
		remove(t, r, "leaf", metav1.DeletePropagationBackground)
	})

	t.Run("one owner of two is enough", func(t *testing.T) {
		a, b := create(t, r, "a"), create(t, r, "b")
		create(t, r, "shared", a, b)
		remove(t, r, "a", metav1.DeletePropagationBackground)
		waittest.One(t, r, "shared", "the reference to go", func(m *corev1.ConfigMap) bool {
			return len(m.OwnerReferences) == 1 && m.OwnerReferences[0].UID == b.UID
		})
		remove(t, r, "b", metav1.DeletePropagationBackground)
		waittest.Gone(t, r, "shared")
	})

	t.Run("an owner that never was", func(t *testing.T) {
		kept := create(t, r, "kept")
		ghost := kept.DeepCopy()
		ghost.UID = "00000000-0000-0000-0000-000000000000"
		create(t, r, "haunted", ghost)
		waittest.Gone(t, r, "haunted")
		if _, err := r.Get(t.Context(), "kept"); apierrors.IsNotFound(err) {
			t.Error("the namesake of a missing owner was deleted")
		}
	})
}
