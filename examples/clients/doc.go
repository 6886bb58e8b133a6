// Package clients has examples of the client library, one in each file, each against a
// control plane of its own: `go test ./examples/clients` runs them and compares their
// output.
package clients
