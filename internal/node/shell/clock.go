package shell

import (
	"math"
	"time"
)

// Forever is how long a command runs that does not end.
const Forever time.Duration = math.MaxInt64

// clock is the time of a session, from its start. It is virtual: only waiting commands advance it.
type clock struct {
	now  time.Duration
	wait func(time.Duration) bool // waits on the machine's clock, false if the context ends; nil in a prediction
	// virtual counts the enclosing left sides of pipes. They run before the right side and so do not wait;
	// the right side waits when it reads their later output.
	virtual int
}

// sleep lets time pass.
func (sh *shell) sleep(d time.Duration) {
	c := &sh.clock
	if c.now += d; c.now < 0 || d == Forever {
		c.now = Forever
	}
	if c.wait == nil || c.virtual > 0 {
		if c.now == Forever {
			panic(endless{})
		}
		return
	}
	if d > 0 && !c.wait(d) {
		panic(killed{})
	}
}

const (
	maxSteps  = 2_000 // statements in virtual time, of a prediction or of the left side of a pipe
	perBreath = 50    // statements between two breaths on the machine's clock
	breath    = 5 * time.Millisecond
)

// step counts a statement. In virtual time their number is limited; on the clock of the machine
// they are slowed down, so that a loop that never pauses does not take a processor. The statements of the
// left side of a pipe count for the next breath as well.
func (sh *shell) step() {
	sh.steps++
	if sh.clock.wait == nil || sh.clock.virtual > 0 {
		if sh.virtualSteps++; sh.virtualSteps > maxSteps {
			refuse("a script that takes so many steps")
		}
		return
	}
	if n := sh.steps / perBreath; n > 0 {
		if sh.steps = 0; !sh.clock.wait(time.Duration(n) * breath) {
			panic(killed{})
		}
	}
}
