package server_test

import (
	"testing"

	"fairlead.dev/server"
	"fairlead.dev/trace"
)

// BenchmarkTrace is what stamps cost, beside the same without them: run it with -count, so
// that both take turns. The store in memory has none of its own; they are two for each sync.
func BenchmarkTrace(b *testing.B) {
	for _, load := range []struct {
		name string
		run  func(b *testing.B, on func(*server.Config))
	}{
		{"create", func(b *testing.B, on func(*server.Config)) { wires(b, createPods, on) }},
		{"fanout", func(b *testing.B, on func(*server.Config)) { wires(b, fanOut, on) }},
	} {
		b.Run(load.name, func(b *testing.B) {
			b.Run("off", func(b *testing.B) { load.run(b, func(*server.Config) {}) })
			b.Run("on", func(b *testing.B) {
				load.run(b, func(c *server.Config) { c.Trace = trace.New(trace.Options{}) })
			})
		})
	}
}
