package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// watching is a running `fairlead store watch` or `etcdctl watch`.
type watching struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan string
	errs  bytes.Buffer
}

func startWatch(t *testing.T, program string, args ...string) *watching {
	t.Helper()
	w := &watching{t: t, cmd: exec.Command(program, args...), lines: make(chan string)}
	w.cmd.Stderr = &w.errs
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(w.lines)
		s := bufio.NewScanner(out)
		for s.Buffer(nil, 1<<20); s.Scan(); {
			select {
			case w.lines <- s.Text():
			case <-t.Context().Done():
				return
			}
		}
	}()
	t.Cleanup(func() { w.cmd.Process.Kill(); w.cmd.Wait() })
	return w
}

// next is the next line.
func (w *watching) next() string {
	w.t.Helper()
	select {
	case line, ok := <-w.lines:
		if !ok {
			w.t.Fatalf("the watch has ended: %v", w.cmd.Wait())
		}
		return line
	case <-time.After(patience):
		w.t.Fatal("the watch prints nothing")
	}
	panic("unreachable")
}

// TestStoreWatch watches from a revision on, as text and as JSON, until it is interrupted;
// and from a compacted revision, which ends the watch.
func TestStoreWatch(t *testing.T) {
	p, c := etcdProcess(t, t.TempDir())
	etcdPut(t, c, "w/1", "one") // 2
	etcdPut(t, c, "x", "other")
	etcdPut(t, c, "w/2", "two")
	if _, err := c.Delete(t.Context(), "w/1"); err != nil { // 5
		t.Fatal(err)
	}
	at := []string{"store", "watch", "w/", "--prefix", "--revision=2", "--endpoints", p.Endpoint}
	w := startWatch(t, bin.fairlead, at...)
	m := startWatch(t, bin.fairlead, append(at, "-o", "json")...)
	var got []string
	for range 9 {
		got = append(got, w.next())
	}
	if s := strings.Join(got, " "); s != "PUT w/1 one PUT w/2 two DELETE w/1 " {
		t.Errorf("it prints %q", s)
	}
	var keys []storeKey
	for range 3 {
		var k storeKey
		if err := json.Unmarshal([]byte(m.next()), &k); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, k)
	}
	if keys[1].Type != "PUT" || keys[1].Value != "two" || keys[1].ModRevision != 4 || keys[2].Type != "DELETE" || keys[2].ModRevision != 5 {
		t.Errorf("for machines: %+v", keys)
	}
	etcdPut(t, c, "w/3", "live")
	if kind, key, value := w.next(), w.next(), w.next(); kind != "PUT" || key != "w/3" || value != "live" {
		t.Errorf("then: %s %s %s", kind, key, value)
	}
	for _, w := range []*watching{w, m} {
		w.cmd.Process.Signal(syscall.SIGINT)
		for range w.lines {
		}
		if err := w.cmd.Wait(); err != nil || w.errs.Len() > 0 {
			t.Errorf("interrupted: %v\n%s", err, &w.errs)
		}
	}
	if _, err := c.Compact(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	fairlead(t, at...).fails(t, 1, "compacted")
	p.stop()
}
