package main

import (
	"runtime"
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
	// collected is a bell that each collection rings: what is alive is known anew.
	collected chan struct{}
}

const (
	// settled is how long after being ready the start is over, if then it is quiet:
	// controllers have listed, nodes are registered, and what was only needed for that is
	// garbage.
	settled = 1500 * time.Millisecond
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
	t := &trimmer{collected: make(chan struct{}, 1), samples: []metrics.Sample{
		sampleAllocated: {Name: "/gc/heap/allocs:bytes"},
		sampleLive:      {Name: "/gc/heap/live:bytes"},
		sampleObjects:   {Name: "/memory/classes/heap/objects:bytes"},
		sampleFree:      {Name: "/memory/classes/heap/free:bytes"},
	}}
	ringAfterCollection(t.collected)
	done := make(chan struct{})
	go t.run(done)
	return func() { close(done) }
}

// ringAfterCollection rings the bell after each collection: nothing refers to the object,
// so each finds it.
func ringAfterCollection(bell chan struct{}) {
	type garbage struct{ bell chan struct{} }
	runtime.AddCleanup(&garbage{bell}, func(bell chan struct{}) {
		select {
		case bell <- struct{}{}:
		default:
		}
		ringAfterCollection(bell)
	}, bell)
}

func (t *trimmer) run(done <-chan struct{}) {
	ready := time.After(settled)
	var ticks <-chan time.Time
	for {
		select {
		case <-done:
			return
		case <-t.collected:
			t.pace()
		case <-ready:
			t.look()
			tick := time.NewTicker(trimPause)
			defer tick.Stop()
			ticks = tick.C
		case <-ticks:
			t.look()
		}
	}
}

// look trims if it is quiet and worth it.
func (t *trimmer) look() {
	quiet := t.pace()
	t.allocated = t.value(sampleAllocated)
	live := t.value(sampleLive)
	garbage := t.value(sampleObjects) - min(live, t.value(sampleObjects))
	first := t.trimmed.IsZero() // with what only the start needed
	due := garbage+t.value(sampleFree) > max(trimFrom, live/4) && time.Since(t.trimmed) >= trimShare*t.took
	if quiet && (first || due) {
		t.trim()
	}
}

// pace sets how much garbage may gather from now on. It reports whether it is quiet: little
// has been allocated since the last look.
func (t *trimmer) pace() (quiet bool) {
	metrics.Read(t.samples)
	quiet = t.value(sampleAllocated)-t.allocated < quietBytes
	if p := headroom(t.value(sampleLive), quiet); p != t.percent {
		debug.SetGCPercent(p) // which stops the world
		t.percent = p
	}
	return quiet
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
	// gather when next to nothing is alive.
	leastPercent = 50
	mostPercent  = 1000
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
