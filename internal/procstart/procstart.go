// Package procstart tells when this program began to run.
package procstart

import (
	"os"
	"strconv"
	"sync"
	"time"
)

// variable hands the time of an exec in place to the program that it starts. The kernel
// keeps a process's start time over an exec.
const variable = "FAIRLEAD_EXEC_TIME"

// Time returns when this program began to run: at the last exec in place that BeforeExec
// announced, otherwise when the kernel started the process. On Linux the kernel counts in
// hundredths of a second and the time is rounded down. On other systems it is the time at
// which this package was initialized, some milliseconds late.
var Time = sync.OnceValue(func() time.Time {
	exec, err := strconv.ParseInt(os.Getenv(variable), 10, 64)
	if err == nil {
		return time.Unix(0, exec)
	}
	return ofProcess()
})

// BeforeExec makes the program that this process is about to execute in its own place count
// from now on.
func BeforeExec() error {
	return os.Setenv(variable, strconv.FormatInt(time.Now().UnixNano(), 10))
}
