// Package dynamic is what admission webhooks and admission policies have in common:
// configurations that are objects of the API and count at once when they are written,
// rules and selectors that say which requests they are about, and the request as the
// version they were written for sees it.
//
// # Concurrency
//
// [Configured] may be used by any goroutine: between two changes of its resource it
// reads one revision and one pointer. A [View] belongs to a request.
package dynamic
