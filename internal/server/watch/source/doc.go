// Package source has the sources of watch streams.
//
// A [Source] yields the events that may be shown now. A [Cursor] over the watch cache is one; the
// others decorate a source where they are needed: [Fence] holds events back while definitions of
// custom resources are settling, [Faults] while injected faults delay them, and [Trace] records them.
// A stream without definitions, faults or a trace has the cursor alone.
//
// A source belongs to the goroutine or connection that serves the watch. Only the methods that say so
// may be called from others.
package source
