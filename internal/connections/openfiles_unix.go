//go:build unix

package connections

import (
	"math"
	"syscall"
)

// openFiles returns the limit on open files, 0 without one.
func openFiles() int64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > math.MaxInt32 {
		return 0
	}
	return int64(limit.Cur)
}
