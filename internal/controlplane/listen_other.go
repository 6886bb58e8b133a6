//go:build !windows

package controlplane

import "syscall"

// addressInUse is the error of a port that another process has.
const addressInUse = syscall.EADDRINUSE
