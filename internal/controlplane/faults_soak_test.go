//go:build soak

package controlplane_test

const (
	killStride     = 1
	takeoverStride = 9

	// Less than five minutes: the garbage collector repeats discovery at that interval.
	idleRenewals = 12
)

func killAfter(int) []bool { return []bool{false, true} }
