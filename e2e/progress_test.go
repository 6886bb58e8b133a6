package e2e

import (
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// slowLink is an address that leads to another one, whose first answer takes a time.
func slowLink(t *testing.T, to string, pause time.Duration) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				near.Close()
				continue
			}
			go func() {
				io.Copy(far, near)
				far.Close()
			}()
			go func() {
				time.Sleep(pause)
				io.Copy(near, far)
				near.Close()
			}()
		}
	}()
	return l.Addr().String()
}

// TestProgress: work of more than a second prints its progress, rate and rest on stderr, without the
// control sequences of a terminal, and only its result on stdout.
func TestProgress(t *testing.T) {
	p, c := etcdProcess(t, t.TempDir())
	const keys = 250 // more than one transaction of a restore
	for i := range keys {
		etcdPut(t, c, fmt.Sprintf("/k/%03d", i), "v")
	}
	file := filepath.Join(t.TempDir(), "backup.db")
	fairlead(t, "store", "snapshot", "save", file, "--endpoints="+p.Endpoint).does(t, "")
	empty, _ := etcdProcess(t, t.TempDir())
	link := slowLink(t, strings.TrimPrefix(empty.Endpoint, "http://"), 1100*time.Millisecond)
	r := fairlead(t, "store", "snapshot", "restore", file, "--endpoints="+link)
	r.does(t, "")
	expect(t, "stderr", r.errs, "Restoring    100 of 250 keys (40 %), ", "/s, ", " left\n")
	if strings.ContainsAny(r.errs, "\x1b\r") {
		t.Errorf("control sequences in %q", r.errs)
	}
}
