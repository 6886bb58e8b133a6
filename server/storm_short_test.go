//go:build !soak

package server_test

import "time"

// The storm of ordinary runs; with -tags soak it is longer and wider.
const (
	stormFor      = 6 * time.Second
	stormTroubles = 12
	stormWriters  = 4
	stormObjects  = 1000
)
