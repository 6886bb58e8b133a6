package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
)

type snapshotState struct{ Revision, Keys, Bytes int64 }

// TestSnapshotUnderWrites saves a store during writes, flips a byte of the file, and
// restores it into an empty directory, into a real etcd, and from there into a directory
// again. Each has one revision of the data: two keys that are always written together are
// equal.
func TestSnapshotUnderWrites(t *testing.T) {
	p, c := etcdProcess(t, t.TempDir())
	lease, err := c.Grant(t.Context(), 600)
	if err != nil {
		t.Fatal(err)
	}
	etcdPut(t, c, "leased", "1", clientv3.WithLease(lease.ID))
	etcdPut(t, c, "bytes", "\x00\xff")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	begun, written := make(chan struct{}), make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			v := strconv.Itoa(i)
			_, err := c.Txn(ctx).Then(clientv3.OpPut("left", v), clientv3.OpPut("right", v), clientv3.OpPut(fmt.Sprintf("many/%03d", i%500), v)).Commit()
			if ctx.Err() != nil {
				written <- nil
				return
			}
			if err != nil {
				written <- err
				return
			}
			if i == 300 {
				close(begun)
			}
		}
	}()
	select {
	case <-begun:
	case err := <-written:
		t.Fatal(err)
	case <-time.After(patience):
		t.Fatal("nothing is written")
	}
	file := filepath.Join(t.TempDir(), "backup.db")
	r := fairlead(t, "store", "snapshot", "save", file, "--endpoints", p.Endpoint, "-o", "json")
	saved := parse[snapshotState](t, r)
	expect(t, "snapshot save", r.errs, "Saved", file, fmt.Sprint(saved.Revision))
	stop()
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	p.stop()
	whole, err := os.ReadFile(file)
	if err != nil || int64(len(whole)) != saved.Bytes || saved.Keys < 300 {
		t.Fatalf("%d bytes, %v; the command printed %+v", len(whole), err, saved)
	}

	// A damaged snapshot is refused, and no store is made.
	dir := filepath.Join(t.TempDir(), "restored")
	for _, at := range []int{100, len(whole) / 2, len(whole) - 1} {
		damaged := append([]byte(nil), whole...)
		damaged[at] ^= 1
		bad := filepath.Join(t.TempDir(), "bad.db")
		if err := os.WriteFile(bad, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		fairlead(t, "store", "snapshot", "restore", bad, "--data-dir", dir).fails(t, 1, "corrupt", "checksum", bad)
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("%s was made: %v", dir, err)
		}
	}

	// Into a directory, where revisions go on.
	restored := parse[snapshotState](t, fairlead(t, "store", "snapshot", "restore", file, "--data-dir", dir, "-o", "json"))
	if restored != saved {
		t.Errorf("restored %+v of %+v", restored, saved)
	}
	fairlead(t, "store", "snapshot", "restore", file, "--data-dir", dir).fails(t, 1, "holds a store already")
	first, c := etcdProcess(t, dir)
	g := moment(t, c, saved)
	if g.Header.Revision != saved.Revision {
		t.Errorf("it goes on at revision %d, saved was %d", g.Header.Revision, saved.Revision)
	}

	// Into a real etcd, where keys get new revisions.
	theirs := startRealEtcd(t)
	online := parse[snapshotState](t, fairlead(t, "store", "snapshot", "restore", file, "--endpoints", theirs, "-o", "json"))
	if online.Keys != saved.Keys {
		t.Errorf("restored %+v of %+v", online, saved)
	}
	fairlead(t, "store", "snapshot", "restore", file, "--endpoints", theirs).fails(t, 1, "not empty")
	same(t, g, moment(t, etcdClient(t, theirs), saved))

	// And back, from its own snapshot.
	back := filepath.Join(t.TempDir(), "etcd.db")
	parse[snapshotState](t, fairlead(t, "store", "snapshot", "save", back, "--endpoints", theirs, "-o", "json"))
	dir = filepath.Join(t.TempDir(), "back")
	fairlead(t, "store", "snapshot", "restore", back, "--data-dir", dir).does(t, "")
	second, c := etcdProcess(t, dir)
	same(t, g, moment(t, c, saved))
	first.stop()
	second.stop()
}

// moment reads all keys and checks that they are of one revision.
func moment(t *testing.T, c *clientv3.Client, saved snapshotState) *clientv3.GetResponse {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	g, err := c.Get(ctx, "", clientv3.WithFromKey())
	if err != nil || g.Count != saved.Keys {
		t.Fatalf("%d keys, %v; saved were %d", g.Count, err, saved.Keys)
	}
	value := map[string]string{}
	for _, kv := range g.Kvs {
		if value[string(kv.Key)] = string(kv.Value); string(kv.Key) == "leased" {
			if ttl, err := c.TimeToLive(ctx, clientv3.LeaseID(kv.Lease)); err != nil || ttl.GrantedTTL != 600 {
				t.Errorf("the lease: %+v, %v", ttl, err)
			}
		}
	}
	if value["left"] != value["right"] || value["left"] == "" || value["bytes"] != "\x00\xff" || value["leased"] != "1" {
		t.Errorf("left %q, right %q, bytes %q", value["left"], value["right"], value["bytes"])
	}
	return g
}

func same(t *testing.T, a, b *clientv3.GetResponse) {
	t.Helper()
	for i := range min(len(a.Kvs), len(b.Kvs)) {
		if x, y := a.Kvs[i], b.Kvs[i]; string(x.Key) != string(y.Key) || string(x.Value) != string(y.Value) {
			t.Fatalf("key %d is %s=%q, and %s=%q", i, x.Key, x.Value, y.Key, y.Value)
		}
	}
	if len(a.Kvs) != len(b.Kvs) {
		t.Errorf("%d keys, and %d", len(a.Kvs), len(b.Kvs))
	}
}

// startRealEtcd starts etcd's own code, in this process.
func startRealEtcd(t *testing.T) string {
	t.Helper()
	c := embed.NewConfig()
	c.Dir, c.LogLevel, c.LogOutputs = t.TempDir(), "fatal", []string{"/dev/null"}
	any := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	c.ListenClientUrls, c.ListenPeerUrls = []url.URL{any}, []url.URL{any}
	e, err := embed.StartEtcd(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	select {
	case <-e.Server.ReadyNotify():
	case <-time.After(patience):
		t.Fatal("etcd does not get ready")
	}
	return e.Clients[0].Addr().String()
}
