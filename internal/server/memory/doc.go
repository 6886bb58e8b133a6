// Package memory is a wire without a network: a RoundTripper that calls an http.Handler of the
// same process.
package memory
