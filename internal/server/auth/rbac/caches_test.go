package rbac_test

import (
	"context"
	"encoding/json"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/rbac"
	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
	"fairlead.dev/watchcache"
)

// TestCaches checks that writes to the store count once the caches have them.
func TestCaches(t *testing.T) {
	ctx := context.Background()
	store, hub, a := newAuthorizer(t, nil)
	ask := auth.Attributes{User: &auth.User{Name: "ann"}, Verb: "get", Resource: "pods", Namespace: "x", IsResource: true}
	expect := func(step string, want bool) {
		t.Helper()
		if err := hub.WaitFor(ctx, store.Revision()); err != nil {
			t.Fatal(err)
		}
		got, reason, err := a.Authorize(ctx, ask)
		if (got == auth.Allow) != want || err != nil {
			t.Fatalf("%s: %v %s %v", step, got, reason, err)
		}
	}
	put := func(key string, obj any) {
		t.Helper()
		value, _ := json.Marshal(obj)
		if _, err := store.Commit(ctx, storage.Txn{Then: []storage.Op{{Type: storage.Put, Key: key, Value: value}}}); err != nil {
			t.Fatal(err)
		}
	}
	expect("nothing", false)
	put("/registry/clusterrolebindings/b", everywhere("reader", user("ann")))
	expect("a binding alone", false)
	put("/registry/clusterroles/reader", clusterRole("reader", rule("get", "", "pods")))
	expect("with its role", true)
	put("/registry/clusterroles/reader", clusterRole("reader", rule("list", "", "pods")))
	expect("another rule", false)
	put("/registry/roles/x/r", role("x", "r", rule("get", "", "pods")))
	put("/registry/rolebindings/x/b", in("x", "Role", "r", user("ann")))
	expect("in the namespace", true)
	if _, err := store.Commit(ctx, storage.Txn{Then: []storage.Op{{Type: storage.Delete, Key: "/registry/rolebindings/x/b"}}}); err != nil {
		t.Fatal(err)
	}
	expect("binding deleted", false)
}

// TestShared checks that stores that began alike share a policy only as long as their objects are alike.
func TestShared(t *testing.T) {
	ctx := context.Background()
	value := func(obj any) []byte {
		b, err := json.Marshal(obj)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	origin, _, _ := newAuthorizer(t, nil)
	at := commit(t, origin,
		storage.Op{Type: storage.Put, Key: "/registry/clusterroles/reader", Value: value(clusterRole("reader", rule("get", "", "pods")))},
		storage.Op{Type: storage.Put, Key: "/registry/clusterrolebindings/b", Value: value(everywhere("reader", user("ann")))})
	shared := rbac.NewShared(at)
	type fork struct {
		store storage.Store
		hub   *watchcache.Hub
		*rbac.Authorizer
	}
	var forks []fork
	for range 3 {
		store, err := origin.(*local.Store).Fork(ctx, 0, local.ForkOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		hub, a := authorizerOf(t, store, shared)
		forks = append(forks, fork{store, hub, a})
	}
	policy := func(f fork) *rbac.Policy {
		p, err := f.Policy(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if policy(forks[0]) != policy(forks[1]) {
		t.Error("two stores that are alike have two policies")
	}
	may := func(f fork, name string) bool {
		d, _, err := f.Authorize(ctx, auth.Attributes{User: &auth.User{Name: name}, Verb: "get", Resource: "pods", Namespace: "x", IsResource: true})
		if err != nil {
			t.Fatal(err)
		}
		return d == auth.Allow
	}
	change := func(f fork, ops ...storage.Op) {
		if err := f.hub.WaitFor(ctx, commit(t, f.store, ops...)); err != nil {
			t.Fatal(err)
		}
	}
	change(forks[0], storage.Op{Type: storage.Put, Key: "/registry/clusterrolebindings/c", Value: value(everywhere("reader", user("bob")))})
	change(forks[2], storage.Op{Type: storage.Delete, Key: "/registry/clusterrolebindings/b"}) // before its first request
	for i, want := range []struct{ ann, bob bool }{{true, true}, {true, false}, {false, false}} {
		if ann, bob := may(forks[i], "ann"), may(forks[i], "bob"); ann != want.ann || bob != want.bob {
			t.Errorf("fork %d: ann %v, bob %v, want %+v", i, ann, bob, want)
		}
	}
	change(forks[0], storage.Op{Type: storage.Delete, Key: "/registry/clusterrolebindings/b"})
	if may(forks[0], "ann") || !may(forks[0], "bob") || !may(forks[1], "ann") {
		t.Error("the second change of a store does not count, or counts in another one")
	}
}

func commit(t testing.TB, s storage.Store, ops ...storage.Op) storage.Revision {
	t.Helper()
	r, err := s.Commit(context.Background(), storage.Txn{Then: ops})
	if err != nil {
		t.Fatal(err)
	}
	return r.Revision
}

func newAuthorizer(t testing.TB, shared *rbac.Shared) (storage.Store, *watchcache.Hub, *rbac.Authorizer) {
	store, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	hub, a := authorizerOf(t, store, shared)
	return store, hub, a
}

func authorizerOf(t testing.TB, store storage.Store, shared *rbac.Shared) (*watchcache.Hub, *rbac.Authorizer) {
	hub, err := watchcache.NewHub(store, watchcache.HubOptions{})
	if err != nil {
		t.Fatal(err)
	}
	add := func(plural string, namespaced bool) *watchcache.Cache {
		return hub.Add(watchcache.Options{Prefix: "/registry/" + plural + "/", Namespaced: namespaced, Group: rbacv1.GroupName, Resource: plural})
	}
	return hub, rbac.New(rbac.Caches{
		Shared: shared,
		Roles:  add("roles", true), RoleBindings: add("rolebindings", true),
		ClusterRoles: add("clusterroles", false), ClusterRoleBindings: add("clusterrolebindings", false),
	}.Source())
}

func BenchmarkAuthorizeFromCaches(b *testing.B) {
	_, _, a := newAuthorizer(b, nil)
	ask := auth.Attributes{User: &auth.User{Name: "ann"}, Verb: "get", Resource: "pods", Namespace: "x", IsResource: true}
	b.ReportAllocs()
	for b.Loop() {
		a.Authorize(context.Background(), ask)
	}
}
