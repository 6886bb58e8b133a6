// Package memory is a wire without a network: a RoundTripper that calls an http.Handler of the
// same process. A handler may leave a list or watch to the reader of its response, see h2.HandOver;
// the response then has no goroutine.
package memory
