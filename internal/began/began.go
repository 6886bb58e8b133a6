// Package began knows when this process began, as well as a portable program
// can: it imports next to nothing, so Go initialises it before the packages that
// take long (they are initialised in order of their import paths).
package began

import "time"

// At is when the process's own code began to run. Before it lie the kernel's exec
// and the start of the Go runtime, one to two milliseconds.
var At = time.Now()
