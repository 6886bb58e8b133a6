package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// ran is the output and the exit code of a command.
type ran struct {
	line      string
	out, errs string
	code      int
}

// fairlead runs it to its end.
func fairlead(t testing.TB, args ...string) ran {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin.fairlead, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("fairlead %q: %v", args, err)
	}
	return ran{strings.Join(args, " "), out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// does expects success, and out on stdout.
func (r ran) does(t *testing.T, out string) {
	t.Helper()
	if r.code != 0 || r.out != out {
		t.Errorf("fairlead %s: exit %d, %q, want %q\n%s", r.line, r.code, r.out, out, r.errs)
	}
}

// fails expects an exit code, an empty stdout, and an error on stderr that contains all
// parts: one line, or two with the hint to the help.
func (r ran) fails(t *testing.T, code int, parts ...string) {
	t.Helper()
	if want := code; r.code != code || r.out != "" || strings.Count(r.errs, "\n") != want {
		t.Errorf("fairlead %s: exit %d, want %d; it prints %q and\n%s", r.line, r.code, code, r.out, r.errs)
	}
	expect(t, "fairlead "+r.line, r.errs, parts...)
}

// parse decodes the JSON that a command printed.
func parse[T any](t *testing.T, r ran) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.out), &v); err != nil || r.code != 0 {
		t.Fatalf("fairlead %s: exit %d, %v in %q\n%s", r.line, r.code, err, r.out, r.errs)
	}
	return v
}

// etcdProcess starts `fairlead etcd`, and a client of it.
func etcdProcess(t *testing.T, dir string, args ...string) (*process, *clientv3.Client) {
	t.Helper()
	p := launch(t, append([]string{"etcd", "--data-dir", dir, "--listen", "127.0.0.1:0"}, args...)...)
	return p, etcdClient(t, p.Endpoint)
}

func etcdClient(t *testing.T, endpoint string) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func etcdPut(t *testing.T, c *clientv3.Client, key, value string, opts ...clientv3.OpOption) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := c.Put(ctx, key, value, opts...); err != nil {
		t.Fatal(err)
	}
}

type storeState struct {
	Revision, Compacted, Keys, Leases int64
	Events, LiveBytes, DiskBytes      *int64
	Unreadable                        []struct{ Key, Error string }
}

type storeKey struct {
	Type, Key, Value                            string
	ValueBytes                                  []byte
	CreateRevision, ModRevision, Version, Lease int64
}

// TestStoreCommands inspects a running store and the same store when stopped: the output is
// the same.
func TestStoreCommands(t *testing.T) {
	dir := t.TempDir()
	p, c := etcdProcess(t, dir)
	etcdPut(t, c, "a", "1")          // 2
	etcdPut(t, c, "a", "2")          // 3
	etcdPut(t, c, "b/1", "\xff\xfe") // 4
	lease, err := c.Grant(t.Context(), 600)
	if err != nil {
		t.Fatal(err)
	}
	etcdPut(t, c, "b/2", "2", clientv3.WithLease(lease.ID)) // 5
	both := func(where ...string) {
		on := func(args ...string) ran { return fairlead(t, append(append([]string{"store"}, args...), where...)...) }
		r := on("status")
		expect(t, "status", strings.Join(strings.Fields(r.out), " "), "REVISION 5 COMPACTED 0 KEYS 3 LEASES 1")
		if s := parse[storeState](t, on("status", "-o", "json")); s.Revision != 5 || s.Keys != 3 || s.Leases != 1 || s.Compacted != 0 {
			t.Errorf("%v: %+v", where, s)
		}
		on("get", "a").does(t, "a\n2\n")
		on("get", "a", "--revision=2").does(t, "a\n1\n")
		on("get", "nothing").does(t, "")
		on("get", "b/", "--prefix", "--keys-only").does(t, "b/1\nb/2\n")
		if k := parse[storeKey](t, on("get", "a", "-o", "json")); k.Value != "2" || k.CreateRevision != 2 || k.ModRevision != 3 || k.Version != 2 {
			t.Errorf("%v: %+v", where, k)
		}
		if k := parse[storeKey](t, on("get", "b/1", "-o", "json")); string(k.ValueBytes) != "\xff\xfe" || k.Value != "" {
			t.Errorf("%v, a value that is no text: %+v", where, k)
		}
		if k := parse[storeKey](t, on("get", "b/2", "-o", "json", "--keys-only")); k.Lease != int64(lease.ID) || k.Value != "" {
			t.Errorf("%v, without its value: %+v", where, k)
		}
		on("get", "a", "--revision=99").fails(t, 1, "future")
	}
	both("--endpoints", p.Endpoint)
	fairlead(t, "store", "status", "--data-dir", dir).fails(t, 1, "in use", "--endpoints")
	fairlead(t, "store", "verify", "--data-dir", dir).fails(t, 1, "in use", "stopped")
	p.stop()
	both("--data-dir", dir)

	// Compaction of the stopped store, and of the running one.
	offline := func(args ...string) ran {
		return fairlead(t, append(append([]string{"store"}, args...), "--data-dir", dir)...)
	}
	r := offline("compact", "3")
	r.does(t, "")
	expect(t, "compact", r.errs, "Compacted", "revision 3", "Freed", "bytes on disk")
	offline("get", "a", "--revision=2").fails(t, 1, "compacted")
	offline("compact", "3").fails(t, 1, "compacted")
	offline("compact", "99").fails(t, 1, "future")
	p, _ = etcdProcess(t, dir)
	online := func(args ...string) ran {
		return fairlead(t, append(append([]string{"store"}, args...), "--endpoints", p.Endpoint)...)
	}
	online("compact", "-o", "json").does(t, "{\"compacted\":5}\n")
	expect(t, "compact", online("compact").errs, "already")
	if s := parse[storeState](t, online("status", "-o", "json")); s.Compacted != 5 || s.Revision != 5 {
		t.Errorf("after compacting: %+v", s)
	}
	online("get", "a", "--revision=4").fails(t, 1, "compacted")
	p.stop()
}

// TestStoreVerify verifies an intact store, and one with a flipped bit, which it refuses and
// does not change.
func TestStoreVerify(t *testing.T) {
	dir := t.TempDir()
	p, c := etcdProcess(t, dir)
	for i := range 50 {
		etcdPut(t, c, fmt.Sprint("key-", i), strings.Repeat("v", 500))
	}
	p.stop()
	fairlead(t, "store", "compact", "--data-dir", dir) // from the log into a table
	r := fairlead(t, "store", "verify", "--data-dir", dir, "-o", "json")
	expect(t, "verify", r.errs, "Verified", dir)
	if s := parse[storeState](t, r); s.Keys != 50 || s.LiveBytes == nil || *s.LiveBytes < 50*500 || s.DiskBytes == nil || *s.DiskBytes == 0 {
		t.Errorf("verify: %+v", s)
	}
	flipped := 0
	err := filepath.WalkDir(filepath.Join(dir, "store"), func(path string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".sst") {
			return err
		}
		b, err := os.ReadFile(path)
		if err == nil {
			b[len(b)/3] ^= 4
			flipped++
			err = os.WriteFile(path, b, 0o600)
		}
		return err
	})
	if err != nil || flipped == 0 {
		t.Fatal(flipped, err)
	}
	before := contents(t, dir)
	for _, command := range []string{"verify", "status"} {
		fairlead(t, "store", command, "--data-dir", dir).fails(t, 1, dir, "corrupt")
	}
	if after := contents(t, dir); after != before {
		t.Errorf("refusing it changed it:\n%s\nbefore:\n%s", after, before)
	}
	fairlead(t, "etcd", "--data-dir", dir, "--listen", "127.0.0.1:0").fails(t, 1, dir, "corrupt")
}

// TestStoreRefuses: a wrong command line exits with 2, a command that fails with 1, and neither
// makes a store.
func TestStoreRefuses(t *testing.T) {
	t.Parallel()
	none := filepath.Join(t.TempDir(), "none")
	for _, args := range [][]string{
		{"nonsense"}, {"status", "x"}, {"status", "-o", "xml"}, {"status", "--wings"},
		{"get"}, {"get", ""}, {"get", "a", "b"}, {"get", "a", "--revision=-1"}, {"get", "a", "--revision=many"}, {"get", "a", "-o", "yaml"},
		{"watch"}, {"watch", "a"}, {"watch", "a", "--revision=-1"}, {"watch", "a", "-o", "xml"},
		{"compact", "x"}, {"compact", "-1"}, {"compact", "1", "2"},
		{"verify", "--endpoints=127.0.0.1:1"}, {"verify", "x"},
		{"snapshot", "nonsense"}, {"snapshot", "save"}, {"snapshot", "save", "a", "b"}, {"snapshot", "restore"},
		{"status", "--endpoints=127.0.0.1:1", "--cert=x"},
	} {
		fairlead(t, append([]string{"store", "--data-dir", none}, args...)...).fails(t, 2, "--help")
	}
	file := filepath.Join(t.TempDir(), "letter")
	if err := os.WriteFile(file, []byte("this is no snapshot"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		part string
	}{
		{[]string{"status"}, "no store in"}, {[]string{"get", "a"}, "no store in"}, {[]string{"verify"}, "no store in"},
		{[]string{"compact"}, "no store in"}, {[]string{"snapshot", "save", file + ".db"}, "no store in"},
		{[]string{"snapshot", "restore", file + ".none"}, "no such file"},
		{[]string{"snapshot", "restore", file}, "no checksum"},
		{[]string{"status", "--endpoints=127.0.0.1:1"}, "connection refused"},
		{[]string{"watch", "a", "--endpoints=127.0.0.1:1"}, "connection refused"},
		{[]string{"get", "a", "--endpoints=https://127.0.0.1:1", "--cacert=" + file}, "no certificate in"},
	} {
		fairlead(t, append([]string{"store", "--data-dir", none}, test.args...)...).fails(t, 1, test.part)
	}
	if _, err := os.Stat(none); !os.IsNotExist(err) {
		t.Errorf("%s was made: %v", none, err)
	}
	if _, err := os.Stat(file + ".db"); !os.IsNotExist(err) {
		t.Errorf("%s.db was made: %v", file, err)
	}
}
