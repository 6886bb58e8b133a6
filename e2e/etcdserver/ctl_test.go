package etcdserver_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/etcd/etcdctl/v3/ctlv3"

	"fairlead.dev/internal/storage/snapshot"
)

// The roles of the test binary beside tests.
const (
	roleEnv     = "FAIRLEAD_TEST_ROLE"
	roleEtcdctl = "etcdctl"
	roleServer  = "server"
	roleEtcd    = "etcd"
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case roleEtcdctl:
		ctlv3.MustStart()
		os.Exit(0)
	case roleServer:
		serveForever()
	case roleEtcd:
		etcdForever()
	}
	os.Exit(m.Run())
}

// etcdctl runs the real etcdctl's code and returns its output.
func etcdctl(t *testing.T, endpoint, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"--endpoints=" + endpoint}, args...)...)
	cmd.Env = append(os.Environ(), roleEnv+"="+roleEtcdctl)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("etcdctl %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

// TestEtcdctl runs etcdctl's commands.
func TestEtcdctl(t *testing.T) {
	c, store := serve(t)
	endpoint := c.Endpoints()[0]
	file := filepath.Join(t.TempDir(), "snapshot.db")
	for _, step := range []struct {
		stdin, args, want string
	}{
		{"", "put greeting hello", "OK\n"},
		{"", "put greeting goodbye --prev-kv", "OK\ngreeting\nhello\n"},
		{"", "get greeting", "greeting\ngoodbye\n"},
		{"", "get greeting --rev=2 --print-value-only", "hello\n"},
		{"", "get gr --prefix --keys-only", "greeting\n\n"},
		{"", "get x --prefix --count-only -w fields", "\"Count\" : 0"},
		{"value(\"greeting\") = \"goodbye\"\n\nput greeting hi\nget greeting\n\nput greeting lost\n\n", "txn", "SUCCESS\n\nOK\n\ngreeting\nhi\n"},
		{"", "lease grant 100 -w json", "\"TTL\":100"},
		{"", "lease list", "found 1 leases"},
		{"", "del greeting --prev-kv", "1\ngreeting\nhi\n"},
		{"", "compaction 4", "compacted revision 4"},
		{"", "endpoint health", "is healthy"},
		{"", "endpoint status -w fields", "\"Version\" : \"3.7.3\""},
		{"", "endpoint hashkv", endpoint},
		{"", "member list", "fairlead"},
		{"", "alarm list", ""},
		{"", "defrag", "Finished defragmenting"},
		{"", "snapshot save " + file, "Snapshot saved at"},
		{"", "lock mine -- echo held", "held"},
	} {
		args := strings.Fields(step.args)
		if got := etcdctl(t, endpoint, step.stdin, args...); !strings.Contains(got, step.want) {
			t.Errorf("etcdctl %s: %q, want %q", step.args, got, step.want)
		}
	}
	s, err := snapshot.Read(file, nil)
	if err != nil || s.Revision != 5 || len(s.KVs) != 0 || len(s.Leases) != 1 {
		t.Errorf("the snapshot: %+v, %v", s, err)
	}
	if store.Compacted() != 4 {
		t.Errorf("compacted %d", store.Compacted())
	}
}
