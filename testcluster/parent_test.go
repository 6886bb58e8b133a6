package testcluster_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead.dev/testcluster"
)

// patience is how long a stalled machine may take.
const patience = 2 * time.Minute

// role tells this program, started by a test, to run a test for it.
const role = "TESTCLUSTER_ROLE"

// again starts this program again, with a test that plays a role.
func again(t *testing.T, test string, flags ...string) (cmd *exec.Cmd, out *bufio.Reader) {
	t.Helper()
	cmd = exec.Command(os.Args[0], append([]string{"-test.run=^" + test + "$"}, flags...)...)
	cmd.Env = append(os.Environ(), role+"="+test)
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewReader(pipe)
}

// line reads up to a line that begins so, and returns the rest of it.
func line(t *testing.T, in *bufio.Reader, begin string) string {
	t.Helper()
	for {
		text, err := in.ReadString('\n')
		if rest, ok := strings.CutPrefix(strings.TrimSpace(text), begin); ok {
			return rest
		}
		if err != nil {
			t.Fatalf("no line %q: %v", begin, err)
		}
	}
}

func TestRoleParent(t *testing.T) {
	if os.Getenv(role) == "" {
		t.Skip("played for another test")
	}
	o := small()
	o.Webhooks.Paths = []string{"testdata/webhooks"}
	env, err := testcluster.Start(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(os.Stderr, "server", env.Config().Host)
	io.Copy(io.Discard, os.Stdin)
	select {}
}

// The control plane ends with its parent, and its files with it, even if the parent is killed.
func TestParentIsKilled(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	cmd, out := again(t, "TestRoleParent")
	host := line(t, out, "server ")
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("files while it runs: %v, %v", left, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, out) // the control plane does not hold it open
	cmd.Wait()               // its error is the kill
	deadline := time.Now().Add(patience)
	for {
		left, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(left) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("left: %v", left)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if conn, err := net.Dial("tcp", strings.TrimPrefix(host, "https://")); err == nil {
		conn.Close()
		t.Error("its port is still open")
	}
}

func TestRoleHeld(t *testing.T) {
	if os.Getenv(role) == "" {
		t.Skip("played for another test")
	}
	testcluster.New(t, small())
	t.Error("failed on purpose")
}

// -fairlead.hold keeps the control plane of a test up until Ctrl-C.
func TestHold(t *testing.T) {
	check := isolate(t)
	cmd, out := again(t, "TestRoleHeld", "-fairlead.hold")
	line(t, out, "The test has failed.")
	kubeconfig := line(t, out, "export KUBECONFIG=")
	if page := line(t, out, "https://"); !strings.Contains(page, "/ui/") {
		t.Errorf("page: %s", page)
	}
	if _, err := os.Stat(kubeconfig); err != nil {
		t.Error(err)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, out)
	if err := cmd.Wait(); err == nil {
		t.Error("the held test has passed")
	}
	check()
}
