//go:build !unix

package main

import "errors"

// restartProcess refuses: this system cannot replace the program of a process, so a
// supervisor has to start it again.
func restartProcess() error {
	return errors.New("this system cannot replace the program of a process: start it again")
}
