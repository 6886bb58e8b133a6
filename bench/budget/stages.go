package main

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"
)

// cost is the CPU time of a stage, and that part of it which allocates memory.
type cost struct{ all, allocating time.Duration }

type stage struct {
	name string
	cost
}

type budget struct {
	stages []stage // the most expensive first
	total  cost
}

// stages are the stages by the beginnings of names of functions; the first that fits counts.
var stages = []struct{ prefix, name string }{
	{"fairlead.dev/internal/codec/", "decode and encode"},
	{"fairlead.dev/internal/server/serializer", "decode and encode"},
	{"fairlead.dev/internal/server/managed", "managed fields"},
	{"fairlead.dev/internal/server/admission", "admission plugins"},
	{"fairlead.dev/internal/server/auth", "authentication and authorization"},
	{"fairlead.dev/internal/server/write", "write"},
	{"fairlead.dev/internal/server/patch", "write"},
	{"fairlead.dev/internal/resource", "strategies and validation"},
	{"fairlead.dev/internal/server/subresource", "write"},
	{"fairlead.dev/internal/server/watch", "watches"},
	{"fairlead.dev/internal/server/read", "reads"},
	{"fairlead.dev/internal/server/represent", "reads"},
	{"fairlead.dev/internal/server/memory", "requests within the process"},
	{"fairlead.dev/internal/bodies", "requests within the process"},
	{"fairlead.dev/internal/server/h2", "connections: HTTP/2, TLS, system calls"},
	{"fairlead.dev/internal/server", "requests: routing, limits, metrics"},
	{"fairlead.dev/server", "requests: routing, limits, metrics"},
	{"fairlead.dev/watchcache", "watch cache"},
	{"fairlead.dev/internal/watchcache", "watch cache"},
	{"fairlead.dev/storage", "store"},
	{"fairlead.dev/internal/storage", "store"},
	{"fairlead.dev/internal/delta", "differences of objects at rest"},
	{"fairlead.dev/client", "client"},
	{"fairlead.dev/informer", "informers"},
	{"fairlead.dev/workqueue", "controllers"},
	{"fairlead.dev/controller", "controllers"},
	{"fairlead.dev/internal/controllers", "controllers"},
	{"fairlead.dev/scheduler", "scheduler"},
	{"fairlead.dev/internal/scheduler", "scheduler"},
	{"fairlead.dev/node", "simulated nodes"},
	{"fairlead.dev/internal/node", "simulated nodes"},
	{"fairlead.dev/trace", "lives of events"},
	{"fairlead.dev/internal/trace", "lives of events"},
	{"fairlead.dev/", "other packages"},
	{"github.com/cockroachdb/pebble", "log on disk, in the background"},
}

// collector are functions at which the garbage collector's work begins.
var collector = []string{
	"runtime.gcBgMarkWorker", "runtime.gcAssistAlloc", "runtime.bgsweep", "runtime.bgscavenge", "runtime.gcStart", "runtime.gcMarkDone",
	"runtime.(*mheap).nextSpan", "runtime.deductSweepCredit", "runtime.gcWriteBarrier", "runtime.wbBufFlush",
}

const (
	collection = "garbage collection"
	goroutines = "goroutines: waking, waiting"
	rest       = "everything else"
)

// budgetOf adds up the samples of a CPU profile by stage.
func budgetOf(p *profile.Profile) budget {
	var b budget
	by := map[string]*cost{}
	for _, s := range p.Sample {
		name, allocates := stageOf(s)
		c := by[name]
		if c == nil {
			c = &cost{}
			by[name] = c
		}
		took := time.Duration(s.Value[len(s.Value)-1])
		for _, c := range []*cost{c, &b.total} {
			c.all += took
			if allocates {
				c.allocating += took
			}
		}
	}
	for name, c := range by {
		b.stages = append(b.stages, stage{name, *c})
	}
	slices.SortFunc(b.stages, func(x, y stage) int {
		return cmp.Or(cmp.Compare(y.all, x.all), strings.Compare(x.name, y.name))
	})
	return b
}

// stageOf returns the stage of a sample, and whether memory is being allocated.
func stageOf(s *profile.Sample) (name string, allocates bool) {
	for function := range functions(s) {
		if slices.ContainsFunc(collector, func(f string) bool { return strings.HasPrefix(function, f) }) {
			return collection, false
		}
		allocates = allocates || function == "runtime.mallocgc" || function == "runtime.growslice"
		if name != "" {
			continue // the collector may have been called further out
		}
		for _, known := range stages {
			if strings.HasPrefix(function, known.prefix) {
				name = known.name
				break
			}
		}
	}
	if name != "" {
		return name, allocates
	}
	for function := range functions(s) {
		switch function {
		case "runtime.mcall", "runtime.park_m", "runtime.schedule", "runtime.mstart", "runtime.goexit0", "runtime.sysmon":
			return goroutines, false
		}
	}
	return rest, allocates
}

// functions yields the functions of a sample, the innermost first.
func functions(s *profile.Sample) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for _, l := range s.Location {
			for _, line := range l.Line {
				if line.Function != nil && !yield(line.Function.Name) {
					return
				}
			}
		}
	}
}
