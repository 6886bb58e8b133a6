//go:build soak

package controlplane_test

const killStride = 1

func killAfter(int) []bool { return []bool{false, true} }
