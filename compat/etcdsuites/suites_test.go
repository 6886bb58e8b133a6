// Package etcdsuites runs etcd's own client tests against our etcd endpoint. The tests come
// from the module's etcd and are not copied.
package etcdsuites

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// suites are the packages of etcd's own tests that are about clients, with the minimum of
// their tests that run, and the skipped ones with the reason.
var suites = []struct {
	path  string
	args  []string
	least int
	skip  map[string]string
}{
	{"./integration/clientv3/watch", nil, 48, map[string]string{
		"TestV3WatchRestoreSnapshotUnsync":             "raft between members",
		"TestV3WatchFromCurrentRevision/multiple_puts": "events that came while a stream was busy come in one answer",
		"TestV3WatchCancellation":                      "etcd's own metrics",
		"TestWatchCancelOnServer":                      "etcd's own metrics",
		"TestV3NoEventsLostOnCompact":                  "stops etcd's own code in the middle",
		"TestWatchFragment":                            "what was missed comes in answers of about a megabyte: storage/etcdserver's package comment",
		"TestWatchWithRequireLeader":                   "there is no leader to lose",
		"TestWatchResumeAfterDisconnect":               "skips itself, on etcd too, unless it is slower than the server",
		"TestWatchOverlapDropConnContextCancel":        "counts on how fast a machine is",
		"TestConfigurableWatchProgressNotifyInterval":  "counts on how fast a machine is",
	}},
	{"./integration/clientv3", nil, 34, map[string]string{
		"Member|Learner|MoveLeader":               "the cluster has one member",
		"Auth|User|TestGetToken":                  "there are no users",
		"Metrics":                                 "etcd's own metrics",
		"RequireLeader|OrderViolation|Endpoint":   "there is no leader to lose, and no member that is behind",
		"TestKVPutError|TestMaintenanceStatus":    "there is no quota of space",
		"TestKVLargeRequests":                     "the limits of requests cannot be moved",
		"TestCompactionHash":                      "hashes are of what is stored, not of etcd's file",
		"TestMaintenanceSnapshotFromServerClient": "a client inside etcd's own server",
		"TestTxnReadRetry|TestUnresolvable":       "skipped by etcd, and an order that we do not violate",
	}},
	{"./integration/clientv3/lease", nil, 60, map[string]string{
		"TestLeaseKeepAliveHandleFailure": "skipped by etcd",
		"RequireLeader":                   "there is no leader to lose",
	}},
	{"./integration/clientv3/concurrency", nil, 10, nil},
	{"./integration/clientv3/naming", nil, 6, nil},
	{"./integration/clientv3/experimental/recipes", nil, 20, nil},
	{"./integration", []string{"-run", "^(TestV3Put|TestV3Txn|TestV3Compact|TestV3HashKV|TestV3Delete|TestV3Range|TestV3TooLarge|TestV3Lease|TestV3Get|TestKV|TestSTM|TestTxn|TestTLSGRPC|TestV3KVInflight)"}, 40, map[string]string{
		"TestV3RangeStream": "etcd's sizes of pieces, and its limits of requests moved; what it answers is compared in storage/etcdserver",
		"TestV3LeasePromote|Checkpoint|Failover|ForwardingCatchError|LeaderChanged": "leases between etcd's own members",
		"TestV3LeaseNegativeID": "IDs of leases are positive: storage/etcdserver's package comment",
	}},
	{"./common", []string{"-tags", "integration"}, 21, map[string]string{
		"Auth|User|Role":    "there are no users",
		"Member|TestStatus": "the cluster has one member",
		"TestAlarm":         "there is no quota of space",
		"NoQuorum":          "there is no quorum to lose",
	}},
}

// TestEtcdsOwnSuites runs etcd 3.7's own client tests against our endpoint: its test
// framework starts its clusters as usual, and only the endpoint of their clients is ours.
func TestEtcdsOwnSuites(t *testing.T) {
	dir := layOut(t)
	for _, s := range suites {
		t.Run(strings.TrimPrefix(s.path, "./"), func(t *testing.T) {
			args := append([]string{"test", "-json", "-vet=off", "-timeout=8m"}, s.args...)
			if len(s.skip) > 0 {
				var all []string
				for names := range s.skip {
					all = append(all, names)
				}
				args = append(args, "-skip", strings.Join(all, "|"))
			}
			cmd := exec.Command("go", append(args, s.path)...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod")
			var errs bytes.Buffer
			cmd.Stderr = &errs
			out, err := cmd.Output()
			passed := 0
			said := map[string]*strings.Builder{}
			for d := json.NewDecoder(bytes.NewReader(out)); ; {
				var e struct{ Action, Test, Output string }
				if err := d.Decode(&e); err != nil {
					if !errors.Is(err, io.EOF) {
						t.Fatalf("%v\n%s", err, &errs)
					}
					break
				}
				if said[e.Test] == nil {
					said[e.Test] = new(strings.Builder)
				}
				// Its members log at length.
				if len(e.Output) < 2000 && !strings.Contains(e.Output, "logger.go") && !strings.Contains(e.Output, "cluster.go") {
					said[e.Test].WriteString(e.Output)
				}
				switch e.Action {
				case "skip":
					if !strings.Contains(e.Test, "/") { // a subtest that skips itself does so on etcd too
						t.Errorf("%s skips itself\n%s", e.Test, said[e.Test])
					}
				case "fail":
					t.Errorf("%s: %s\n%s", e.Action, e.Test, said[e.Test])
				case "pass":
					if e.Test != "" && !strings.Contains(e.Test, "/") {
						passed++
					}
				}
			}
			t.Logf("seen: %d tests pass", passed)
			if passed < s.least || err != nil {
				t.Errorf("%d tests pass, want %d at the least: %v\n%s", passed, s.least, err, &errs)
			}
		})
	}
}

// layOut copies etcd's tests and puts our endpoint into the members of their clusters.
func layOut(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "mod", "download", "-json", "go.etcd.io/etcd/tests/v3@v3.7.3").Output()
	if err != nil {
		t.Fatalf("etcd's tests: %v\n%s", err, out)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "tests")
	if err := os.CopyFS(dir, os.DirFS(module.Dir)); err != nil {
		t.Fatal(err)
	}
	// Packages that need unrelated modules.
	for _, path := range []string{"antithesis", "robustness", "e2e", "integration/snapshot", "integration/cache_test.go", "common/e2e_test.go"} {
		if err := os.RemoveAll(filepath.Join(dir, path)); err != nil {
			t.Fatal(err)
		}
	}
	above, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	edit := []string{"mod", "edit", "-replace=fairlead.dev=" + above, "-require=fairlead.dev@v0.0.0", "-droprequire=github.com/antithesishq/antithesis-sdk-go"}
	for _, m := range []string{"api", "cache", "client/pkg", "client", "etcdctl", "etcdutl", "pkg", "server"} {
		edit = append(edit, "-dropreplace=go.etcd.io/etcd/"+m+"/v3")
		if m == "cache" || m == "etcdutl" {
			edit = append(edit, "-droprequire=go.etcd.io/etcd/"+m+"/v3")
		}
	}
	cmd := exec.Command("go", edit...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go mod edit: %v\n%s", err, out)
	}
	ours, err := os.ReadFile("testdata/fairlead.go")
	if err != nil {
		t.Fatal(err)
	}
	framework := filepath.Join(dir, "framework", "integration")
	if err := os.WriteFile(filepath.Join(framework, "fairlead.go"), ours, 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(framework, "cluster.go")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, change := range [][2]string{
		// Clients are served by us,
		{"\t\tgo m.GRPCServer.Serve(m.GRPCListener)\n", "\t\tif err := m.serveFairlead(tlscfg); err != nil {\n\t\t\treturn err\n\t\t}\n"},
		// until the cluster ends,
		{"\tm.Close()\n\tif !m.KeepDataDirTerminate {", "\tm.Close()\n\tm.leaveFairlead()\n\tif !m.KeepDataDirTerminate {"},
		// and the cluster has formed, whatever members its clients see.
		{"func isMembersEqual(membs []*pb.Member, wmembs []*pb.Member) bool {\n", "func isMembersEqual(membs []*pb.Member, wmembs []*pb.Member) bool {\n\tif len(membs) == 1 {\n\t\treturn true\n\t}\n"},
		{"func (c *Cluster) waitMembersMatch(t testutil.TB) {\n", "func (c *Cluster) waitMembersMatch(t testutil.TB) {\n\tif c != nil {\n\t\treturn\n\t}\n"},
	} {
		if strings.Count(text, change[0]) != 1 {
			t.Fatalf("etcd's test framework has %d times\n%s", strings.Count(text, change[0]), change[0])
		}
		text = strings.Replace(text, change[0], change[1], 1)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
