// Package export sends the lives of events to an OpenTelemetry receiver, as traces.
//
//	err := export.Run(ctx, lives, export.Options{Endpoint: "http://localhost:4318"})
//
// It sends OTLP over HTTP with JSON bodies, which collectors accept at /v1/traces
// (https://opentelemetry.io/docs/specs/otlp/#otlphttp). Package show defines the spans.
//
// An event is sent once, a second after its last known hop. Later hops, those of a slow
// watcher for example, are only in the log.
//
// # A receiver that is slow or away
//
// A receiver delays no other work and costs no memory beyond the log. After a failed
// request the exporter waits as long as the receiver asks, or for a pause that grows to
// half a minute, and then sends the events that are still in the log. Events that have left
// it are counted and logged. Events that the receiver rejects permanently are dropped.
//
// # Concurrency
//
// Run starts no goroutine. Several may run on one log.
package export
