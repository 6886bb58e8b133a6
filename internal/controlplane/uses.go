package controlplane

import "sync/atomic"

// uses counts the control planes and frozen states that use the connections of credentials, and ends these with the last.
type uses struct {
	count atomic.Int64
	ends  []func()
}

func newUses() *uses {
	u := &uses{}
	u.count.Store(1)
	return u
}

// share adds a user. Each calls close.
func (u *uses) share() { u.count.Add(1) }

// close ends one use. The receiver may be nil.
func (u *uses) close() {
	if u == nil || u.count.Add(-1) > 0 {
		return
	}
	for _, end := range u.ends {
		end()
	}
}
