package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"fairlead.dev/server"
	"fairlead.dev/storage"
)

// manyKeys is a ConfigMap with so many short keys that its managed fields are as long as its
// data, and both together are more than the store takes.
func manyKeys(n int) string {
	var b strings.Builder
	b.WriteString(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"big"},"data":{"k":"v"`)
	for i := range n {
		fmt.Fprintf(&b, `,"key-that-is-not-short-at-all-%07d":"1"`, i)
	}
	return b.String() + "}}"
}

// TestTooLarge checks that an object that fits only without its managed fields is stored without
// them, and that one that does not fit at all, and an apply, are refused without effect.
func TestTooLarge(t *testing.T) {
	c := start(t)
	const maps = "/api/v1/namespaces/default/configmaps"
	unowned := func(a answer) {
		t.Helper()
		if strings.Contains(a.body, "managedFields") {
			t.Error("it has managedFields")
		}
	}
	unowned(c.must("POST "+maps, manyKeys(20_000)))
	unowned(c.must("PATCH "+maps+"/big", `{"data":{"k":"w"}}`, "Content-Type: application/merge-patch+json"))
	unowned(c.must("PUT "+maps+"/big", manyKeys(20_001)))

	c.must("POST "+maps, strings.Replace(manyKeys(10), "big", "small", 1))
	if a := c.must("GET "+maps+"/small", ""); !strings.Contains(a.body, "managedFields") {
		t.Error("a small one has none")
	}
	unowned(c.must("PATCH "+maps+"/small", strings.Replace(manyKeys(20_000), "big", "small", 1), "Content-Type: application/merge-patch+json"))

	config := strings.Replace(manyKeys(20_000), `"big"`, `"applied"`, 1)
	if a := c.do("PATCH "+maps+"/applied?fieldManager=me", config, "Content-Type: application/apply-patch+yaml"); a.code != 413 {
		t.Errorf("an apply: %d %.300s", a.code, a.body)
	}
	if a := c.do("GET "+maps+"/applied", ""); a.code != 404 {
		t.Errorf("then %d", a.code)
	}
}

// taken is a store in which the names of some creates exist already.
type taken struct {
	storage.Store
	left int
}

func (s *taken) Commit(ctx context.Context, t storage.Txn) (storage.TxnResult, error) {
	if len(t.If) == 1 && t.If[0].ModRevision == 0 && strings.HasPrefix(t.If[0].Key, "/registry/configmaps/") && s.left > 0 {
		s.left--
		return storage.TxnResult{Current: []*storage.KeyValue{{Key: t.If[0].Key, Value: []byte("{}")}}}, nil
	}
	return s.Store.Commit(ctx, t)
}

// TestGeneratedNamesThatExist checks that taken names are generated anew, a limited number of
// times.
func TestGeneratedNamesThatExist(t *testing.T) {
	store := &taken{}
	c := start(t, func(cfg *server.Config) { store.Store, cfg.Store = cfg.Store, store })
	const maps = "/api/v1/namespaces/default/configmaps"
	const body = `{"metadata":{"generateName":"made-"}}`
	for _, tt := range []struct{ left, code int }{{0, 201}, {1, 201}, {7, 201}, {8, 409}} {
		store.left = tt.left
		a := c.do("POST "+maps, body)
		if a.code != tt.code || store.left != 0 {
			t.Errorf("%d taken: %d, %d left", tt.left, a.code, store.left)
		}
		if tt.code == 409 && !strings.Contains(a.body, `"reason":"AlreadyExists"`) {
			t.Error(a.body)
		}
	}
	store.left = 1 // a name that the client gives is tried once
	if a := c.do("POST "+maps, `{"metadata":{"name":"mine"}}`); a.code != 409 || store.left != 0 {
		t.Errorf("%d %s", a.code, a.body)
	}
}
