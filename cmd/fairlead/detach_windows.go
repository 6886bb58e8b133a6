package main

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// ownSession gives a process no console, so that neither Ctrl-C nor the console's end reaches it.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}

// terminate ends a process, which Windows cannot ask to end.
func terminate(p *os.Process) { _ = p.Kill() } // it may have ended
