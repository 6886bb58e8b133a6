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
	store, hub, a := newAuthorizer(t)
	ask := auth.Attributes{User: &auth.User{Name: "ann"}, Verb: "get", Resource: "pods", Namespace: "x", IsResource: true}
	expect := func(step string, want bool) {
		t.Helper()
		if err := hub.WaitFor(ctx, store.Revision()); err != nil {
			t.Fatal(err)
		}
		got, reason, err := a.Authorize(ctx, ask)
		if got != want || err != nil {
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

func newAuthorizer(t testing.TB) (storage.Store, *watchcache.Hub, *rbac.Authorizer) {
	store, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	hub, err := watchcache.NewHub(store, watchcache.HubOptions{})
	if err != nil {
		t.Fatal(err)
	}
	add := func(plural string, namespaced bool) *watchcache.Cache {
		return hub.Add(watchcache.Options{Prefix: "/registry/" + plural + "/", Namespaced: namespaced, Group: rbacv1.GroupName, Resource: plural})
	}
	return store, hub, rbac.New(rbac.Caches{
		Roles: add("roles", true), RoleBindings: add("rolebindings", true),
		ClusterRoles: add("clusterroles", false), ClusterRoleBindings: add("clusterrolebindings", false),
	}.Source())
}

func BenchmarkAuthorizeFromCaches(b *testing.B) {
	_, _, a := newAuthorizer(b)
	ask := auth.Attributes{User: &auth.User{Name: "ann"}, Verb: "get", Resource: "pods", Namespace: "x", IsResource: true}
	b.ReportAllocs()
	for b.Loop() {
		a.Authorize(context.Background(), ask)
	}
}
