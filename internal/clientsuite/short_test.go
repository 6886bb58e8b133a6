//go:build !soak

package clientsuite

const storms = 1
