// Package inflight bounds the requests that run at once and the memory of their bodies, as
// kube-apiserver's max-in-flight filter does.
//
// [Limits] may be used from any goroutine. A [Place] belongs to its request.
package inflight
