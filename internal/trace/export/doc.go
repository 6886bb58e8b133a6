// Package export sends the lives of events to an OpenTelemetry receiver, as traces.
//
//	err := export.Run(ctx, lives, export.Options{Endpoint: "http://localhost:4318"})
//
// It speaks OTLP over HTTP with JSON bodies, which collectors take at /v1/traces
// (https://opentelemetry.io/docs/specs/otlp/#otlphttp). What a span is, package show says.
//
// An event is sent once, a second after the last thing that was known of it; what becomes known
// later, of a watcher that was slow, say, is only in the log.
//
// # A receiver that is slow or away
//
// Nothing waits for it, and nothing is kept for it but the log itself: a request that failed is
// made again, with what the log still has, when the receiver says or after a pause that grows to
// half a minute. What has left the log by then is counted and said. What the receiver refuses
// for good is left out.
//
// # Concurrency
//
// Run starts no goroutine. Several may run on one log.
package export
