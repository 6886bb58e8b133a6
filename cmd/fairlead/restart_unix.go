//go:build unix

package main

import (
	"os"
	"syscall"

	"fairlead.dev/internal/procstart"
)

// restartProcess makes this process a new one of the same program, with the same ID and
// arguments. It returns only if it can't.
func restartProcess() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	if err := procstart.BeforeExec(); err != nil {
		return err
	}
	return syscall.Exec(program, os.Args, os.Environ())
}
