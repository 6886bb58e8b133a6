// Package dynamic has the common parts of admission webhooks and admission policies: configurations that are API
// objects and take effect as soon as they are written, the rules and selectors that match requests, and the view of
// a request in the version that a configuration asks for.
//
// # Concurrency
//
// [Configured] may be used by any goroutine: while its resource does not change, it reads one revision and one
// pointer. A [View] belongs to a request.
package dynamic
