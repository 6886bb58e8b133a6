//go:build unix

package main

import (
	"os"
	"syscall"
)

// ownSession takes a process out of the terminal's session, so that neither Ctrl-C nor the terminal's end reaches it.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// terminate asks a process to end.
func terminate(p *os.Process) { _ = p.Signal(syscall.SIGTERM) } // it may have ended
