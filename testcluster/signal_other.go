//go:build !unix

package testcluster

import (
	"os"
	"os/exec"
)

func detach(*exec.Cmd) {}

// interrupt ends a process, on a system that has no signals for it.
func interrupt(p *os.Process) { _ = p.Kill() }

// kill ends the process.
func kill(p *os.Process) { _ = p.Kill() }
