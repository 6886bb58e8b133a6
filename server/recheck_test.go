package server_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/server"
	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

// distant is a store as a server sees it over a network: it learns of the writes of others only when it asks.
type distant struct {
	storage.Store
	known atomic.Int64
	asked atomic.Int64
}

func (d *distant) Revision() storage.Revision { return storage.Revision(d.known.Load()) }

func (d *distant) Current(ctx context.Context) (storage.Revision, error) {
	d.asked.Add(1)
	return d.Store.Current(ctx)
}

func (d *distant) Watch(r storage.WatchRequest) (storage.Cursor, error) {
	c, err := d.Store.Watch(r)
	return &distantCursor{Cursor: c, bell: make(chan struct{}, 1)}, err
}

// distantCursor has the events up to the wanted revision.
type distantCursor struct {
	storage.Cursor
	bell chan struct{}
	mu   struct {
		sync.Mutex
		wanted storage.Revision
		ahead  storage.Batch
	}
}

func (c *distantCursor) Bell() <-chan struct{} { return c.bell }

func (c *distantCursor) Want(r storage.Revision) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.wanted = max(c.mu.wanted, r)
	select {
	case c.bell <- struct{}{}:
	default:
	}
}

func (c *distantCursor) Next() (b storage.Batch, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	more, err := c.Cursor.Next()
	if err != nil {
		return b, err
	}
	ahead := append(c.mu.ahead.Events, more.Events...)
	n := 0
	for n < len(ahead) && ahead[n].Revision() <= c.mu.wanted {
		n++
	}
	b = storage.Batch{Events: ahead[:n:n], Progress: min(more.Progress, c.mu.wanted)}
	c.mu.ahead.Events = ahead[n:]
	return b, nil
}

// TestWritesTrustCaches: a server whose caches are behind the store does not ask the store about a write that it allows, asks
// before it refuses one, and answers reads by the present state.
func TestWritesTrustCaches(t *testing.T) {
	store, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	near := start(t, func(cfg *server.Config) { cfg.Store = store })
	const path, object = "/api/v1/namespaces/default/configmaps", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q%s}}`
	create := func(name string) { near.must("POST "+path, fmt.Sprintf(object, name, "")) }

	behind := &distant{Store: store}
	behind.known.Store(int64(store.Revision()))
	var far *cluster
	// exists reports whether there is a ConfigMap of that name.
	exists := func(ctx context.Context, name string) bool {
		_, err := far.server.Lookup().Get(ctx, corev1.Resource("configmaps"), "default", name)
		if err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
		return err == nil
	}
	far = start(t, func(cfg *server.Config) {
		cfg.Store, cfg.TrustCaches = behind, true
		cfg.Authenticator = server.AuthenticatorFunc(func(r *http.Request) (*auth.User, bool, error) {
			name := r.Header.Get("Authorization") // the user's, who exists if there is a ConfigMap user-NAME
			return &auth.User{Name: name}, exists(r.Context(), "user-"+name), nil
		})
		cfg.Authorizer = server.AuthorizerFunc(func(ctx context.Context, a auth.Attributes) (auth.Decision, string, error) {
			return auth.AllowIf(exists(ctx, "grant-"+a.User.Name)), "", nil
		})
	})
	request := func(want int, asks bool, head, body string) {
		t.Helper()
		before := behind.asked.Load()
		got := far.do(head, body, "Authorization: ann")
		if n := behind.asked.Load() - before; got.code != want || (n > 0) != asks {
			t.Errorf("%s %s: %d %s, and the store was asked %d times; want %d, asked: %v", head, body, got.code, got.body, n, want, asks)
		}
	}

	request(401, true, "POST "+path, fmt.Sprintf(object, "a", ""))
	create("user-ann")
	request(403, true, "POST "+path, fmt.Sprintf(object, "a", ""))
	create("grant-ann")
	request(201, true, "POST "+path, fmt.Sprintf(object, "a", "")) // which was refused by the caches
	request(201, false, "POST "+path, fmt.Sprintf(object, "b", ""))
	create("c")
	request(200, true, "GET "+path+"/c", "")
	request(404, true, "DELETE "+path+"/d", "")
	create("d")
	request(200, true, "DELETE "+path+"/d", "")

	create("f")
	request(409, true, "POST "+path+"?dryRun=All", fmt.Sprintf(object, "f", ""))

	// The server knows all writes.
	behind.known.Store(int64(store.Revision()))
	request(201, false, "POST "+path, fmt.Sprintf(object, "e", ""))
	request(409, false, "POST "+path, fmt.Sprintf(object, "e", ""))
	request(200, false, "PATCH "+path+"/a application/merge-patch+json", `{"data":{"k":"1"}}`)
	changed := near.must("PATCH "+path+"/b application/merge-patch+json", `{"data":{"k":"1"}}`)
	version := changed.body[strings.Index(changed.body, `"resourceVersion"`):]
	version, _, _ = strings.Cut(version[len(`"resourceVersion":"`):], `"`)
	request(200, true, "PUT "+path+"/b", fmt.Sprintf(object, "b", `,"resourceVersion":"`+version+`"`)) // a conflict by the caches
	request(409, true, "PUT "+path+"/b", fmt.Sprintf(object, "b", `,"resourceVersion":"`+version+`"`))

	// It knows an object that is being deleted, and not yet the next one of that name.
	near.must("POST "+path, fmt.Sprintf(object, "g", `,"finalizers":["example.com/f"]`))
	near.must("DELETE "+path+"/g", "")
	request(200, true, "GET "+path+"/g", "")
	near.must("PATCH "+path+"/g application/merge-patch+json", `{"metadata":{"finalizers":null}}`)
	create("g")
	request(200, true, "DELETE "+path+"/g", "")
	if got := near.do("GET "+path+"/g", ""); got.code != http.StatusNotFound {
		t.Errorf("the next object is not deleted: %d %s", got.code, got.body)
	}
}
