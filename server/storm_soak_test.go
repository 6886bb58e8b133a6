//go:build soak

package server_test

import "time"

const (
	stormFor      = 3 * time.Minute
	stormTroubles = 200
	stormWriters  = 12
	stormObjects  = 5000
)
