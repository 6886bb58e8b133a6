//go:build soak

package controlplane_test

const (
	killStride     = 1
	takeoverStride = 9

	// Less than five minutes, after which the collector of garbage asks what kinds there are.
	idleRenewals = 12
)

func killAfter(int) []bool { return []bool{false, true} }
