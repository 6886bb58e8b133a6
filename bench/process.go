package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is one of a server's processes.
type process struct {
	cmd  *exec.Cmd
	log  string // path of its output
	done chan struct{}
}

// startProcess runs a program whose output goes to a file in dir.
func startProcess(dir, path string, args ...string) (*process, error) {
	p := &process{
		cmd:  exec.Command(path, args...),
		log:  filepath.Join(dir, filepath.Base(path)+".log"),
		done: make(chan struct{}),
	}
	out, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, out, out
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is in its log
		close(p.done)
	}()
	return p, nil
}

// stop ends the process, by force if it does not go in ten seconds.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(10 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// cpu is the time, user and system, that the process and threads of it that have
// ended have run. It is the sum of utime and stime in /proc/<pid>/stat, read from
// the process's own clock, which counts nanoseconds and not hundredths of a
// second.
func (p *process) cpu() (time.Duration, error) {
	const perProcess = 2 // CPUCLOCK_SCHED
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^p.cmd.Process.Pid<<3|perProcess), &t); err != nil {
		return 0, fmt.Errorf("%s: CPU time: %w", p.cmd.Path, err)
	}
	return time.Duration(t.Nano()), nil
}

// resident is the process's resident memory in bytes, program included.
func (p *process) resident() (int64, error) { return p.status("VmRSS:") }

// peak is the highest resident memory.
func (p *process) peak() (int64, error) { return p.status("VmHWM:") }

func (p *process) status(field string) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte(field)); ok {
			kb, err := strconv.ParseInt(string(bytes.Fields(rest)[0]), 10, 64)
			return kb << 10, err
		}
	}
	return 0, fmt.Errorf("%s: no %s", p.cmd.Path, field)
}

// said is the end of the process's output, for errors.
func (p *process) said() string {
	text, _ := os.ReadFile(p.log)
	for _, mark := range []string{"\npanic: ", "\nfatal error: ", "\nSIG"} {
		if i := bytes.Index(text, []byte(mark)); i >= 0 {
			return string(text[i+1 : min(len(text), i+4000)])
		}
	}
	return string(text[max(0, len(text)-1000):])
}
