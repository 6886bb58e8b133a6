package builtin_test

import (
	"testing"

	"fairlead.dev/internal/resource/builtin"
	"fairlead.dev/internal/resource/gates"
)

// BenchmarkOf makes the table of the newest version's resources, as each start of a server does.
func BenchmarkOf(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		builtin.Of(gates.API{})
	}
}
