// Package partflags has the flags of a part of the control plane that runs in a process of its own: leader election and the
// endpoints for health checks and metrics.
package partflags

// A UsageError is an error of the command line.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }

func (e UsageError) Unwrap() error { return e.Err }
