//go:build !soak

package controlplane_test

// Some steps of each stage, by turns before and after the server has the write. With -tags
// soak it is every step, both ways.
const (
	killStride     = 12
	takeoverStride = 60

	// idleRenewals is for how many renewals of each node's lease, about ten seconds each,
	// nobody may ask for anything.
	idleRenewals = 1
)

func killAfter(step int) []bool { return []bool{step/killStride%2 == 0} }
