package main

import (
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// trimmer keeps the program small. Once it has been quiet for a moment, what the
// work before has left is given back: garbage, the heap's free pages, and the pages
// of the program itself that ran once. Pages that are needed again come back from
// the page cache, 64 KB at a fault. And it keeps the collector from letting garbage
// grow to as much as is alive, see headroom.
type trimmer struct {
	samples []metrics.Sample
	// allocated is how many bytes had been allocated at the last look.
	allocated uint64
	// percent is the headroom that was set last.
	percent int
	// trimmed is when memory was given back last, and took how long that took.
	trimmed time.Time
	took    time.Duration
}

const (
	// settled is how long after being ready the start is over: controllers have
	// listed, nodes are registered, and what was only needed for that is garbage.
	settled = 2 * time.Second
	// trimPause is between two looks, quietBytes what is allocated from one to the
	// next at most when it is quiet.
	trimPause  = 500 * time.Millisecond
	quietBytes = 2 << 20
	// trimFrom is how much there must be to give back.
	trimFrom = 16 << 20
	// trimShare is how many times as long as it took there must be until the next
	// time: a full collection costs some ten milliseconds, more in a larger heap and on a
	// busy machine. Were it a fixed time, long enough for those, the end of a burst would
	// often fall into it, and its garbage stay for as long.
	trimShare = 10
)

const (
	sampleAllocated = iota
	sampleLive
	sampleObjects
	sampleFree
)

// startTrimmer runs a trimmer until it is called off.
func startTrimmer() (stop func()) {
	t := &trimmer{samples: []metrics.Sample{
		sampleAllocated: {Name: "/gc/heap/allocs:bytes"},
		sampleLive:      {Name: "/gc/heap/live:bytes"},
		sampleObjects:   {Name: "/memory/classes/heap/objects:bytes"},
		sampleFree:      {Name: "/memory/classes/heap/free:bytes"},
	}}
	done := make(chan struct{})
	go t.run(done)
	return func() { close(done) }
}

func (t *trimmer) run(done <-chan struct{}) {
	select {
	case <-done:
		return
	case <-time.After(settled):
	}
	t.trim()
	for tick := time.NewTicker(trimPause); ; {
		select {
		case <-done:
			tick.Stop()
			return
		case <-tick.C:
			t.look()
		}
	}
}

// look trims if it is quiet and worth it.
func (t *trimmer) look() {
	metrics.Read(t.samples)
	allocated, live := t.value(sampleAllocated), t.value(sampleLive)
	quiet := allocated-t.allocated < quietBytes
	t.allocated = allocated
	if p := headroom(live, quiet); p != t.percent {
		debug.SetGCPercent(p) // which stops the world
		t.percent = p
	}
	garbage := t.value(sampleObjects) - min(live, t.value(sampleObjects))
	if quiet && garbage+t.value(sampleFree) > max(trimFrom, live/4) && time.Since(t.trimmed) >= trimShare*t.took {
		t.trim()
	}
}

func (t *trimmer) value(i int) uint64 { return t.samples[i].Value.Uint64() }

func (t *trimmer) trim() {
	begin := time.Now()
	debug.FreeOSMemory()
	dropProgramPages()
	t.trimmed = time.Now()
	t.took = t.trimmed.Sub(begin)
}

const (
	// freely is the garbage that may gather while there is much to do, sparingly when
	// there is not, however much is alive.
	freely    = 128 << 20
	sparingly = 64 << 20
	// leastPercent bounds what collections cost in large heaps, mostPercent what may
	// gather until the next look while a small heap grows.
	leastPercent = 50
	mostPercent  = 300
	// atRest is Go's default.
	atRest = 100
)

// headroom is how much garbage may gather before a collection, in percent of what is
// alive: as much for a small heap as for a large one, for a collection of the small one
// spares as little. Most of a large heap are stored values, which the collector marks
// without looking into them. When it is quiet, no heap may double its size.
func headroom(live uint64, quiet bool) int {
	most, room := uint64(mostPercent), uint64(freely)
	if quiet {
		most, room = atRest, sparingly
	}
	if live*most <= room*100 {
		return int(most)
	}
	return int(max(leastPercent, room*100/live/5*5)) // in steps, as setting it is not free
}
