package cputime_test

import (
	"testing"

	"fairlead.dev/internal/cputime"
)

// TestUsed checks that work takes processor time: the loop ends only if the time grows.
func TestUsed(t *testing.T) {
	for began := cputime.Used(); cputime.Used() <= began; {
	}
}
