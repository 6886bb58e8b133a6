//go:build !soak

package controlplane_test

// Every fourth step, by turns before and after the server has the write. With -tags soak
// it is every step, both ways.
const killStride = 4

func killAfter(step int) []bool { return []bool{step/killStride%2 == 0} }
