package semantics_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"fairlead.dev/storage"
	"fairlead.dev/storage/etcd"
)

// cut partitions the server from its store while others write there and compact the history up to their writes.
func (g *target) cut(r *run) {
	store, part, join := g.store, func() { g.silence.set(true) }, func() { g.silence.set(false) }
	if !g.ours {
		l := etcdLink()
		if l == nil {
			r.t.Skip("SEMANTICS_ETCD is not set")
		}
		var err error
		if store, err = etcd.Open(context.Background(), etcd.Options{Endpoints: []string{"http://" + l.to}}); err != nil {
			r.t.Fatal(err)
		}
		defer store.Close()
		part, join = func() { l.set(true) }, func() { l.set(false) }
	}
	write := func(name string) storage.Revision {
		ns := r.vars["ns"]
		object := fmt.Appendf(nil, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":%q,"namespace":%q,"uid":"00000000-0000-4000-8000-000000000000","creationTimestamp":"2026-01-01T00:00:00Z"}}`, name, ns)
		res, err := store.Commit(context.Background(), storage.Txn{Then: []storage.Op{{Type: storage.Put, Key: "/registry/configmaps/" + ns + "/" + name, Value: object}}})
		if err != nil {
			r.t.Fatal(err)
		}
		return res.Revision
	}
	part()
	write("unheard")
	if err := store.Compact(context.Background(), write("beside")); err != nil {
		r.t.Fatal(err)
	}
	join()
	write("after")
}

// hushed is a Store whose cursors return no events while silence is on.
type hushed struct {
	storage.Store
	silence *silence
}

func (h hushed) Watch(r storage.WatchRequest) (storage.Cursor, error) {
	c, err := h.Store.Watch(r)
	return hushedCursor{c, h.silence}, err
}

type hushedCursor struct {
	storage.Cursor
	silence *silence
}

func (h hushedCursor) Next() (storage.Batch, error) {
	h.silence.RLock()
	defer h.silence.RUnlock()
	if h.silence.on {
		return storage.Batch{}, nil
	}
	return h.Cursor.Next()
}

// silence is locked while a cursor is read, so that no read is in progress when silence begins.
type silence struct {
	sync.RWMutex
	on bool
}

func (s *silence) set(on bool) {
	s.Lock()
	defer s.Unlock()
	s.on = on
}

// link is a proxy between a foreign server and its etcd.
type link struct {
	to string
	mu struct {
		sync.Mutex
		cut   bool
		conns map[net.Conn]bool
	}
}

// etcdLink listens at the address in the environment, or nil.
var etcdLink = sync.OnceValue(func() *link {
	to, via := os.Getenv("SEMANTICS_ETCD"), os.Getenv("SEMANTICS_ETCD_VIA")
	if to == "" {
		return nil
	}
	l := &link{to: to}
	l.mu.conns = map[net.Conn]bool{}
	listener, err := net.Listen("tcp", via)
	if err != nil {
		panic(err)
	}
	go func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			go l.pass(in)
		}
	}()
	return l
})

func (l *link) set(cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.cut = cut
	for c := range l.mu.conns {
		if cut {
			c.Close()
		}
	}
}

func (l *link) pass(in net.Conn) {
	defer in.Close()
	out, err := net.Dial("tcp", l.to)
	if err != nil {
		return
	}
	defer out.Close()
	l.mu.Lock()
	if l.mu.cut {
		l.mu.Unlock()
		return
	}
	l.mu.conns[in] = true
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.mu.conns, in)
	}()
	go func() {
		io.Copy(out, in)
		out.Close()
	}()
	io.Copy(in, out)
}

// awaitReady waits for a server that could not start before its link existed.
func (g *target) awaitReady(t *testing.T) {
	for {
		resp, err := g.two.Get(g.base + "/readyz")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == 200 {
				return
			}
		}
		select {
		case <-t.Context().Done():
			t.Fatal("the server does not become ready")
		case <-time.After(100 * time.Millisecond):
		}
	}
}
