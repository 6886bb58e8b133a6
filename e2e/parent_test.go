package e2e

import (
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// TestParentProcess ends with the process of --parent-pid, which is killed, in real time and on a standing clock.
func TestParentProcess(t *testing.T) {
	for _, clock := range []string{"real", "virtual"} {
		t.Run(clock, func(t *testing.T) { endsWithParent(t, "--clock="+clock) })
	}
}

func endsWithParent(t *testing.T, flag string) {
	parent := exec.Command("cat")
	if _, err := parent.StdinPipe(); err != nil { // open until the kill
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	p := up(t, t.TempDir(), "--in-memory", flag, "--parent-pid="+strconv.Itoa(parent.Process.Pid))
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	parent.Wait() // its error is the kill
	select {
	case <-p.exited:
	case <-time.After(patience):
		t.Fatal("still running after the end of its parent")
	}
	if p.err != nil {
		t.Errorf("exit: %v\n%s", p.err, p.stderr)
	}
}
