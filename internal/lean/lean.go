// Package lean is for programs that are to be small: samples of what is allocated are
// not taken from the beginning on, which costs some megabytes, but from when somebody asks
// for them (/debug/pprof/heap of package server). It imports next to nothing, so that Go
// initialises it before the packages that allocate much.
package lean

import "runtime"

func init() { runtime.MemProfileRate = 0 }
