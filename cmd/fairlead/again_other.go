//go:build !unix

package main

import "errors"

// startAgain leaves it to a supervisor where a process can't become another.
func startAgain() error { return errors.New("start it again") }
