package local_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

// The test binary is also the process that is killed, or that holds a directory.
const childEnv = "FAIRLEAD_STORE_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		child(dir)
	}
	os.Exit(m.Run())
}

// child writes without end, from several goroutines, and reports the acknowledged writes.
func child(dir string) {
	s, err := local.Open(dir, local.Options{})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	var mu sync.Mutex
	for w := range 8 {
		go func() {
			for i := 0; ; i++ {
				// Two keys in one transaction: one new, one that all fight for.
				key := fmt.Sprintf("/w%d/%d/%d", os.Getpid(), w, i)
				res, err := s.Commit(context.Background(), storage.Txn{Then: []storage.Op{
					{Key: key, Value: []byte(key)}, {Key: "/shared", Value: []byte(key)},
				}})
				mu.Lock()
				if err != nil {
					fmt.Println("error", err)
				} else {
					fmt.Println(key, res.Revision)
				}
				mu.Unlock()
			}
		}()
	}
	select {}
}

func startChild(t *testing.T, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd, bufio.NewScanner(out)
}

// TestKill kills a writing process several times over one directory. Every reported write must be
// there, at its revision, and the log must have no gap.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	acked := map[string]storage.Revision{}
	for round := range 5 {
		cmd, lines := startChild(t, dir)
		for n := 0; lines.Scan(); n++ {
			var key string
			var rev storage.Revision
			if _, err := fmt.Sscan(lines.Text(), &key, &rev); err != nil {
				if n >= 50*(round+1) {
					break // the last line may be cut by the kill
				}
				t.Fatalf("the child says %q", lines.Text())
			}
			acked[key] = rev
			if n == 50*(round+1) {
				cmd.Process.Kill()
			}
		}
		cmd.Wait()

		s := open(t, dir, local.Options{})
		c, err := s.Watch(storage.WatchRequest{Start: "/", End: "0", After: 1, Prev: true})
		if err != nil {
			t.Fatal(err)
		}
		var last storage.Revision = 1
		logged := map[string]storage.Revision{}
		for last < s.Revision() {
			b, err := c.Next()
			if err != nil {
				t.Fatal(err)
			}
			if len(b.Events)%2 != 0 {
				t.Fatalf("half a transaction: %d events", len(b.Events))
			}
			for i, e := range b.Events {
				if want := last + storage.Revision(i/2) + 1; e.Revision() != want {
					t.Fatalf("revision %d where %d should be", e.Revision(), want)
				}
				logged[string(e.KV.Value)] = e.Revision()
			}
			last = b.Progress
		}
		for key, rev := range acked {
			if logged[key] != rev {
				t.Errorf("round %d: %s was acknowledged at %d, and is at %d", round, key, rev, logged[key])
			}
			r, err := s.Range(t.Context(), storage.RangeRequest{Start: key})
			if err != nil || len(r.KVs) != 1 || r.KVs[0].ModRevision != rev || string(r.KVs[0].Value) != key {
				t.Errorf("round %d: %s reads %+v, %v", round, key, r.KVs, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(acked) < 5*50 {
		t.Errorf("only %d writes were seen", len(acked))
	}
}
