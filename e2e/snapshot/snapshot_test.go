// Package snapshot_test checks that etcd and internal/storage/snapshot read each other's snapshots.
package snapshot_test

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/lease"
	"go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.uber.org/zap"

	"fairlead.dev/internal/storage/snapshot"
	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

func open(t testing.TB) *local.Store {
	t.Helper()
	s, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// filled is a store with some of everything.
func filled(t testing.TB) *local.Store {
	t.Helper()
	s := open(t)
	if _, err := s.Grant(t.Context(), 7, time.Hour); err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		ops := []storage.Op{
			{Key: fmt.Sprintf("/a/%03d", i%100), Value: fmt.Append(nil, i)},
			{Key: fmt.Sprintf("/b/%03d", i), Value: bytes.Repeat([]byte("x"), 1000), Lease: 7},
			{Type: storage.Delete, Key: fmt.Sprintf("/b/%03d", i-5)},
		}
		if _, err := s.Commit(t.Context(), storage.Txn{Then: ops}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func save(t testing.TB, s storage.Store) string {
	t.Helper()
	f, err := snapshot.Take(t.Context(), s, t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b bytes.Buffer
	if n, err := f.WriteTo(&b); err != nil || n != f.Size || n != int64(b.Len()) {
		t.Fatalf("%d of %d bytes, %v", n, f.Size, err)
	}
	name := filepath.Join(t.TempDir(), "snapshot.db")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func all(t *testing.T, s storage.Store) []*storage.KeyValue {
	t.Helper()
	r, err := s.Range(t.Context(), storage.RangeRequest{Start: "/", End: storage.NoEnd})
	if err != nil {
		t.Fatal(err)
	}
	return r.KVs
}

// TestEtcdReadsOurs opens a snapshot with etcd's own storage code.
func TestEtcdReadsOurs(t *testing.T) {
	s := filled(t)
	name := save(t, s)
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, info.Size()-32); err != nil { // as etcdutl does
		t.Fatal(err)
	}
	be := backend.NewDefaultBackend(zap.NewNop(), name)
	defer be.Close()
	for _, b := range schema.AllBuckets {
		be.BatchTx().LockOutsideApply()
		be.BatchTx().UnsafeCreateBucket(b)
		be.BatchTx().Unlock()
	}
	lessor := lease.NewLessor(zap.NewNop(), be, nil, lease.LessorConfig{MinLeaseTTL: 1})
	defer lessor.Stop()
	kv := mvcc.New(zap.NewNop(), be, lessor, mvcc.StoreConfig{})
	defer kv.Close()
	r, err := kv.Range(t.Context(), []byte("/"), []byte("0"), mvcc.RangeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := all(t, s)
	if r.Rev != int64(s.Revision()) || len(r.KVs) != len(want) {
		t.Fatalf("etcd finds %d keys at revision %d, want %d at %d", len(r.KVs), r.Rev, len(want), s.Revision())
	}
	for i, kv := range r.KVs {
		w := want[i]
		if string(kv.Key) != w.Key || string(kv.Value) != string(w.Value) || kv.ModRevision != int64(w.ModRevision) ||
			kv.CreateRevision != int64(w.CreateRevision) || kv.Version != w.Version || kv.Lease != int64(w.Lease) {
			t.Fatalf("etcd reads %v, want %+v", kv, w)
		}
	}
	if l := lessor.Lookup(7); l == nil || l.TTL() != 3600 || len(l.Keys()) != 5 {
		t.Errorf("etcd's lease: %v", l)
	}
}

// TestWeReadEtcds restores a snapshot of a real etcd, with history, deletions and a lease.
func TestWeReadEtcds(t *testing.T) {
	c := embed.NewConfig()
	c.Dir, c.LogLevel, c.LogOutputs = t.TempDir(), "fatal", []string{"/dev/null"}
	any := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	c.ListenClientUrls, c.ListenPeerUrls = []url.URL{any}, []url.URL{any}
	e, err := embed.StartEtcd(c)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	<-e.Server.ReadyNotify()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{e.Clients[0].Addr().String()}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	l, err := client.Grant(t.Context(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if _, err := client.Put(t.Context(), fmt.Sprint("/", i%7), fmt.Sprint(i), clientv3.WithLease(l.ID)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.Delete(t.Context(), "/3"); err != nil {
		t.Fatal(err)
	}
	rc, err := client.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := b.ReadFrom(rc); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "etcd.db")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	snap, err := snapshot.Read(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	if snap.Revision != 22 || len(snap.KVs) != 6 || len(snap.Leases) != 1 || snap.Leases[0].TTL != 1000*time.Second {
		t.Errorf("%+v", snap)
	}
	for _, kv := range snap.KVs {
		want, err := client.Get(t.Context(), kv.Key)
		if err != nil || len(want.Kvs) != 1 || want.Kvs[0].ModRevision != int64(kv.ModRevision) || want.Kvs[0].Version != kv.Version ||
			string(want.Kvs[0].Value) != string(kv.Value) || want.Kvs[0].Lease != int64(kv.Lease) {
			t.Errorf("%+v, etcd has %v, %v", kv, want, err)
		}
	}
}
