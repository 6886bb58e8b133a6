package garbagecollector

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// obj returns an object whose UID is its name, of the namespaced kind Thing.
func obj(namespace, name string) identity {
	return identity{"v1", "Thing", namespace, name, types.UID(name)}
}

func refTo(id identity) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: id.apiVersion, Kind: id.kind, Name: id.name, UID: id.uid}
}

func blockingRef(id identity) metav1.OwnerReference {
	yes := true
	r := refTo(id)
	r.BlockOwnerDeletion = &yes
	return r
}

func refs(r ...metav1.OwnerReference) []metav1.OwnerReference { return r }

func add(g *graph, id identity, owners ...metav1.OwnerReference) effects {
	return g.observe(id, owners, life{}, life{})
}

func expect(t *testing.T, what string, got []types.UID, want ...types.UID) {
	t.Helper()
	slices.Sort(got)
	got = slices.Compact(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestOwnerGoesDependentsAreChecked(t *testing.T) {
	g := newGraph()
	owner := obj("a", "owner")
	add(g, owner)
	expect(t, "known owner", add(g, obj("a", "x"), refTo(owner)).check)
	add(g, obj("a", "y"), refTo(owner))
	e := g.vanish(owner)
	expect(t, "after the owner went", e.check, "x", "y")
	if len(e.absent) != 1 || e.absent[0] != owner {
		t.Errorf("absent: %v", e.absent)
	}
	g.vanish(obj("a", "x"))
	g.vanish(obj("a", "y"))
	if g.size() != 0 {
		t.Errorf("%d nodes are left", g.size())
	}
}

func TestUnknownOwnerBecomesVirtualAndIsChecked(t *testing.T) {
	g := newGraph()
	owner := obj("a", "owner")
	expect(t, "unknown owner", add(g, obj("a", "x"), refTo(owner)).check, "owner")
	if n, _ := g.look("owner"); !n.virtual || n.id != owner {
		t.Fatalf("virtual node: %+v", n)
	}
	expect(t, "it shows up", add(g, owner).check)
	if n, _ := g.look("owner"); n.virtual || !n.hasDependents {
		t.Errorf("observed node: %+v", n)
	}
}

func TestDisprovedOwnerHasItsDependentsChecked(t *testing.T) {
	g := newGraph()
	owner := obj("a", "owner")
	add(g, obj("a", "x"), refTo(owner))
	e := g.disprove(owner)
	expect(t, "check", e.check, "x")
	if !slices.Contains(e.absent, owner) {
		t.Errorf("absent: %v", e.absent)
	}
	if _, ok := g.look("owner"); ok {
		t.Error("the virtual node stayed")
	}
}

// Two dependents claim the same UID, one of them wrongly. In either order, only the wrong one may be told that its
// owner is absent.
func TestWrongClaimDoesNotHurtTheRightOne(t *testing.T) {
	owner := obj("a", "owner")
	wrong := refTo(owner)
	wrong.Name = "misnamed"

	t.Run("wrong one first, owner not seen", func(t *testing.T) {
		g := newGraph()
		add(g, obj("a", "bad"), wrong)
		e := add(g, obj("a", "good"), refTo(owner))
		expect(t, "second claim differs", e.check, "good")
		e = g.disprove(claimed(wrong, "a"))
		expect(t, "first claim disproved", e.check, "bad")
		expect(t, "the other claim is next", e.later, "owner")
		if n, ok := g.look("owner"); !ok || n.id != owner {
			t.Errorf("node stands for %v", n.id)
		}
		expect(t, "it shows up", add(g, owner).check)
	})
	t.Run("owner seen", func(t *testing.T) {
		g := newGraph()
		add(g, owner)
		expect(t, "wrong claim", add(g, obj("a", "bad"), wrong).check, "bad")
		expect(t, "right claim", add(g, obj("a", "good"), refTo(owner)).check)
		e := g.disprove(claimed(wrong, "a"))
		expect(t, "wrong claim disproved", e.check, "bad")
		if _, ok := g.look("owner"); !ok {
			t.Error("the owner, which exists, was removed")
		}
	})
}

func TestOwnerInAnotherNamespace(t *testing.T) {
	g := newGraph()
	owner := obj("a", "owner")
	add(g, owner)
	e := add(g, obj("b", "stranger"), refTo(owner))
	expect(t, "check", e.check, "stranger")
	if len(e.misplaced) != 1 || e.misplaced[0].by.name != "stranger" || e.misplaced[0].owner.namespace != "b" {
		t.Errorf("misplaced: %+v", e.misplaced)
	}

	late := newGraph()
	add(late, obj("b", "stranger"), refTo(owner))
	e = add(late, owner)
	expect(t, "owner shows up elsewhere", e.check, "stranger")
	if len(e.misplaced) != 1 {
		t.Errorf("misplaced: %+v", e.misplaced)
	}
}

func TestClusterScopedOwnerOfNamespacedObjects(t *testing.T) {
	g := newGraph()
	owner := identity{"v1", "Node", "", "n1", "n1"}
	add(g, owner)
	expect(t, "first", add(g, obj("a", "x"), refTo(owner)).check)
	expect(t, "second", add(g, obj("b", "y"), refTo(owner)).check)
	expect(t, "owner gone", g.vanish(owner).check, "x", "y")

	// Observed late: the virtual node has the first dependent's namespace.
	late := newGraph()
	add(late, obj("a", "x"), refTo(owner))
	add(late, obj("b", "y"), refTo(owner))
	add(late, owner)
	if n, _ := late.look("n1"); n.id != owner || n.virtual {
		t.Errorf("node: %+v", n)
	}
	expect(t, "owner gone", late.vanish(owner).check, "x", "y")
}

func TestForegroundWaitsForBlockingDependents(t *testing.T) {
	g := newGraph()
	owner := obj("a", "owner")
	add(g, owner)
	add(g, obj("a", "blocks"), blockingRef(owner))
	add(g, obj("a", "idle"), refTo(owner))
	deleting := life{beingDeleted: true, foreground: true}
	e := g.observe(owner, nil, life{}, deleting)
	expect(t, "all are checked", e.check, "blocks", "idle", "owner")
	expect(t, "told again", g.observe(owner, nil, deleting, deleting).check)
	if b := g.blocking("owner"); len(b) != 1 || b[0].id.name != "blocks" {
		t.Errorf("blocking: %v", b)
	}
	expect(t, "a dependent goes", g.vanish(obj("a", "blocks")).check, "owner")
	if b := g.blocking("owner"); len(b) != 0 {
		t.Errorf("blocking: %v", b)
	}
}

func TestUnblockingAnOwnerHasItChecked(t *testing.T) {
	for name, after := range map[string][]metav1.OwnerReference{
		"reference removed":          nil,
		"reference blocks no longer": refs(refTo(obj("a", "owner"))),
	} {
		g := newGraph()
		owner := obj("a", "owner")
		add(g, owner)
		add(g, obj("a", "x"), blockingRef(owner))
		expect(t, name, g.observe(obj("a", "x"), after, life{}, life{}).check, "owner")
	}
}

func TestOrphaning(t *testing.T) {
	g := newGraph()
	owner := obj("a", "owner")
	add(g, owner)
	add(g, obj("a", "x"), refTo(owner))
	e := g.observe(owner, nil, life{}, life{beingDeleted: true, orphan: true})
	expect(t, "orphan", e.orphan, "owner")
	expect(t, "check", e.check)
	g.observe(obj("a", "x"), nil, life{}, life{})
	expect(t, "freed before the owner goes", g.vanish(owner).check)
}

func TestSecondOwnerKeepsTheGraphRight(t *testing.T) {
	g := newGraph()
	a, b := obj("a", "a"), obj("a", "b")
	add(g, a)
	add(g, b)
	add(g, obj("a", "x"), refTo(a), refTo(b))
	expect(t, "a goes", g.vanish(a).check, "x")
	g.observe(obj("a", "x"), refs(refTo(b)), life{}, life{})
	expect(t, "b goes", g.vanish(b).check, "x")
}

func TestAlternativesTakeTurns(t *testing.T) {
	g := newGraph()
	claims := []string{"c", "a", "b"}
	for i, name := range claims {
		add(g, identity{"v1", "Thing", "ns", "dep-" + name, types.UID("dep-" + name)},
			metav1.OwnerReference{APIVersion: "v1", Kind: "Thing", Name: name, UID: "shared"})
		_ = i
	}
	var told []types.UID
	for range claims {
		n, ok := g.look("shared")
		if !ok {
			break
		}
		told = append(told, g.disprove(n.id).check...)
	}
	expect(t, "each claimant is told", told, "dep-a", "dep-b", "dep-c")
}
