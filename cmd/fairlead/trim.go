package main

import (
	"runtime/debug"
	"time"
)

// settled is how long after being ready the start is over: controllers have
// listed, nodes are registered, and what was only needed for that is garbage.
const settled = 2 * time.Second

// trimAfterStart gives back the memory that only the start needed, so that an
// idle control plane is as small as it can be: the heap's free pages, and the
// pages of the program itself that ran once (two thirds of what is resident by
// then). Pages that are needed again come back from the page cache, 64 KB at a
// fault. The returned function calls it off.
func trimAfterStart() (stop func() bool) {
	return time.AfterFunc(settled, func() {
		debug.FreeOSMemory()
		dropProgramPages()
	}).Stop
}
