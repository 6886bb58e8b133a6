// Package procwait waits for the end of another process, which need not be a child of this one.
package procwait

import (
	"context"
	"os"
	"syscall"
	"time"
)

// pollInterval is the pause between two checks where the system cannot wait for the process.
const pollInterval = 500 * time.Millisecond

// Exit returns when the process has ended, at once if there is none, or when ctx ends.
func Exit(ctx context.Context, pid int) {
	if wait(ctx, pid) {
		return
	}
	t := time.NewTicker(pollInterval)
	defer t.Stop()
	for exists(pid) {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// exists reports whether there is a process of that ID. A process of another user answers with a permission error.
func exists(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release()
	err = p.Signal(syscall.Signal(0))
	return err == nil || os.IsPermission(err)
}
