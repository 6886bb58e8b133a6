package main

import (
	"testing"
	"time"

	"github.com/google/pprof/profile"
)

// TestBudgetOf: a sample counts for the innermost package of this project, and for the collector wherever that runs.
func TestBudgetOf(t *testing.T) {
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples"}, {Type: "cpu", Unit: "nanoseconds"}}}
	sample := func(ms int64, innermostFirst ...string) {
		s := &profile.Sample{Value: []int64{1, ms * int64(time.Millisecond)}}
		for _, name := range innermostFirst {
			s.Location = append(s.Location, &profile.Location{Line: []profile.Line{{Function: &profile.Function{Name: name}}}})
		}
		p.Sample = append(p.Sample, s)
	}
	sample(5, "runtime.memmove", "fairlead.dev/internal/codec/fastjson.(*decoder).object", "fairlead.dev/server.(*Server).ServeHTTP")
	sample(2, "runtime.nextFreeFast", "runtime.mallocgc", "fairlead.dev/informer.(*Store[...]).put")
	sample(4, "runtime.scanobject", "runtime.gcAssistAlloc", "runtime.mallocgc", "fairlead.dev/informer.(*Store[...]).put")
	sample(1, "runtime.futex", "runtime.findRunnable", "runtime.schedule", "runtime.mcall")
	sample(3, "syscall.Syscall6", "github.com/cockroachdb/pebble/record.(*LogWriter).flushLoop")
	sample(1, "fairlead.dev/internal/procwait.Wait")
	want := map[string]cost{
		"decode and encode":              {all: 5 * time.Millisecond},
		"informers":                      {all: 2 * time.Millisecond, allocating: 2 * time.Millisecond},
		collection:                       {all: 4 * time.Millisecond},
		goroutines:                       {all: time.Millisecond},
		"log on disk, in the background": {all: 3 * time.Millisecond},
		"other packages":                 {all: time.Millisecond},
	}
	b := budgetOf(p)
	if b.total != (cost{16 * time.Millisecond, 2 * time.Millisecond}) || len(b.stages) != len(want) || b.stages[0].name != "decode and encode" {
		t.Errorf("%+v", b)
	}
	for _, s := range b.stages {
		if s.cost != want[s.name] {
			t.Errorf("%s: %+v, want %+v", s.name, s.cost, want[s.name])
		}
	}
}
