package etcdserver_test

import (
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"fairlead.dev/storage/etcdserver"
	"fairlead.dev/storage/local"
)

// TestAlarm fills the disk. Writers get etcd's error for it and its alarm is raised, reads
// and watches go on, and the alarm stays until the store has been opened again.
func TestAlarm(t *testing.T) {
	var full atomic.Bool
	mem := vfs.NewMem()
	fs := errorfs.Wrap(mem, errorfs.InjectorFunc(func(o errorfs.Op) error {
		if full.Load() && o.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			return syscall.ENOSPC
		}
		return nil
	}))
	store, err := local.Open("data", local.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	c := connect(t, serveStore(t, etcdserver.Config{Store: store}))
	w := c.Watch(ctx(t), "a", clientv3.WithCreatedNotify())
	next(t, w)
	put(t, c, "a", "1")
	full.Store(true)
	for range 2 {
		_, err = c.Put(ctx(t), "a", "2")
		wantErr(t, "writing to a full disk", err, rpctypes.ErrNoSpace)
	}
	_, err = c.Grant(ctx(t), 60)
	wantErr(t, "granting a lease on a full disk", err, rpctypes.ErrNoSpace)
	full.Store(false)
	_, err = c.AlarmDisarm(ctx(t), &clientv3.AlarmMember{})
	if err != nil {
		t.Errorf("AlarmDisarm: %v", err)
	}
	a, err := c.AlarmList(ctx(t))
	if err != nil || len(a.Alarms) != 1 || a.Alarms[0].Alarm != pb.AlarmType_NOSPACE {
		t.Errorf("AlarmList: %v, %v", a, err)
	}
	if st, err := c.Status(ctx(t), c.Endpoints()[0]); err != nil || len(st.Errors) != 1 {
		t.Errorf("Status: %v, %v", st, err)
	}
	if g, err := c.Get(ctx(t), "a"); err != nil || string(g.Kvs[0].Value) != "1" {
		t.Errorf("Get: %v, %v", g, err)
	}
	if got := told(t, w, 1); got != "+a=1@2" {
		t.Errorf("watched: %s", got)
	}
}
