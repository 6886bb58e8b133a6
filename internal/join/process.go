package join

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// stopTime is how long a program may take to end after SIGTERM.
const stopTime = 10 * time.Second

// run runs a program until ctx ends, with its output appended to a file. It is an error if the program ends before.
func (n *Node) run(ctx context.Context, name string, command []string) error {
	if err := os.MkdirAll(n.LogFolder, 0o755); err != nil {
		return err
	}
	path := filepath.Join(n.LogFolder, name+".log")
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopTime
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	n.Progress(name, fmt.Sprintf("process %d, its log is %s", cmd.Process.Pid, path))
	err = cmd.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("%s has ended (%v); the end of its log %s:\n%s", name, err, path, tail(path, 10))
}

// tail returns the last lines of a file.
func tail(path string, lines int) []byte {
	text, err := os.ReadFile(path)
	if err != nil {
		return []byte(err.Error())
	}
	all := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return bytes.Join(all[max(0, len(all)-lines):], []byte("\n"))
}
