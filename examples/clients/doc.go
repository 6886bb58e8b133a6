// Package clients is examples of the client library, one a file, each against a control
// plane of its own: `go test ./examples/clients` runs them and compares what they print.
package clients
