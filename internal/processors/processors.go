// Package processors gives Go's scheduler twice its processors while the process has more work than they can do.
//
// Go looks for data on network connections when one of its processors (GOMAXPROCS) has no goroutine to run, and otherwise every
// 10 ms (findRunnable and sysmon in Go 1.26's runtime). When one client keeps all processors busy, the requests of others
// therefore arrive up to 10 ms late. With more processors than the machine has, the kernel divides the machine among their
// threads, and one of them looks at the network sooner. That costs throughput when clients share the machine, so it is
// done only while it helps.
package processors

import (
	"os"
	"runtime"
	"sync/atomic"
	"time"
)

// rest is how long the process must not have been overloaded before it has its usual processors again.
const rest = 5 * time.Second

// Booster doubles the processors of the process while it is overloaded. It is safe for concurrent use. A process must have one only.
type Booster struct {
	fixed               bool
	overloaded, boosted atomic.Bool
}

// New returns a booster, which has no effect if the environment sets GOMAXPROCS.
func New() *Booster { return &Booster{fixed: os.Getenv("GOMAXPROCS") != ""} }

// Overloaded notes that work has to wait: the processors are doubled until it has not been called for some seconds.
func (b *Booster) Overloaded() {
	if b.fixed {
		return
	}
	b.overloaded.Store(true)
	if b.boosted.CompareAndSwap(false, true) {
		runtime.GOMAXPROCS(2 * runtime.GOMAXPROCS(0))
		go b.restore()
	}
}

func (b *Booster) restore() {
	for b.overloaded.Swap(false) {
		time.Sleep(rest)
	}
	runtime.SetDefaultGOMAXPROCS()
	b.boosted.Store(false)
}
