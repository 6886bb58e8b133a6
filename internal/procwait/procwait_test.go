package procwait_test

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"fairlead.dev/internal/procwait"
)

// TestExit waits for a process that ends when its input does.
func TestExit(t *testing.T) {
	cmd := exec.Command("cat")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		procwait.Exit(t.Context(), cmd.Process.Pid)
		close(ended)
	}()
	select {
	case <-ended:
		t.Error("the process has not ended")
	default:
	}
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	<-ended
	procwait.Exit(t.Context(), cmd.Process.Pid) // it returns at once
}

func TestExitOfContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		procwait.Exit(ctx, os.Getpid())
		close(ended)
	}()
	cancel()
	<-ended
}
