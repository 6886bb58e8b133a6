//go:build !linux

package main

// dropProgramPages does nothing where the kernel has no way to ask for it.
func dropProgramPages() {}
