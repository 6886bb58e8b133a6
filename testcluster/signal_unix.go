//go:build unix

package testcluster

import (
	"os"
	"os/exec"
	"syscall"
)

// detach keeps the terminal's Ctrl-C from the process: a suite that is interrupted stops it itself, after its cleanup.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// interrupt asks a process to end. It may have ended.
func interrupt(p *os.Process) { _ = p.Signal(syscall.SIGTERM) }

// kill ends the process and those that it has started: if it is a script, these hold its output open.
func kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
