//go:build !soak

package controlplane_test

// Only every twelfth write of a stage is a kill point, alternately before and after the
// server has the write. With -tags soak every write is one, both before and after.
const (
	killStride     = 12
	takeoverStride = 60

	// idleRenewals is the length of the idle period, in renewals of each node's lease, which
	// are about ten seconds apart.
	idleRenewals = 1
)

func killAfter(step int) []bool { return []bool{step/killStride%2 == 0} }
