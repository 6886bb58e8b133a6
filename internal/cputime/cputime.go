// Package cputime measures processor time, for benchmarks and tests of work: on a busy machine it is steadier than the clock.
package cputime

import "time"

// Used returns the processor time that this process has taken since its start, in all threads, in user and system mode. It
// panics if the system does not tell it.
func Used() time.Duration {
	d, err := used()
	if err != nil {
		panic(err)
	}
	return d
}
