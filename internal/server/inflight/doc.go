// Package inflight bounds the requests that run at once and the memory of their bodies, as
// kube-apiserver's max-in-flight filter does. Where package fairness gives requests their seats, the requests are only counted
// here, and their bodies are bounded.
//
// [Limits] may be used from any goroutine. A [Place] belongs to its request.
package inflight
