package trace

import (
	"crypto/rand"
	"encoding/binary"
	"sync"
	"sync/atomic"
	"time"
)

// Options limit the size of a Log. The zero value is the defaults.
type Options struct {
	// Events is how many of the last events are kept; 16,384, which takes 4 MB once so
	// many have come. It is rounded up to a power of two, 256 at least.
	Events int
	// Deliveries is how many of the last deliveries, arrivals and reconciles are kept, each;
	// 32,768. A delivery is a Batch of one stream.
	Deliveries int
	// Metered keeps the recording of reconciles after Mute, since metrics count them.
	Metered bool
}

// Instant is nanoseconds since a Log was made; 0 is "never".
type Instant int64

// Log keeps the lives of the last events.
type Log struct {
	began time.Time
	// id distinguishes this Log's reconciles from those of other processes.
	id            uint64
	lastReconcile atomic.Uint64

	// Writes, deliveries and reconciles are recorded from different processors: each of
	// their locks has its own cache line.
	_          [64]byte
	lives      lives
	_          [64]byte
	deliveries ring[delivery]
	_          [64]byte
	arrivals   ring[arrival]
	_          [64]byte
	reconciles ring[Reconcile]
	_          [64]byte
	streams    openStreams
	faults     ring[InjectedFault]
	processes  processes
	queues     queues
	muted      atomic.Bool
	metered    bool
	bell       bell
}

// openStreams are the streams that are open.
type openStreams struct {
	sync.Mutex
	open map[*OpenStream]struct{}
}

// New makes a Log.
func New(o Options) *Log {
	if o.Events <= 0 {
		o.Events = 1 << 14
	}
	if o.Deliveries <= 0 {
		o.Deliveries = 1 << 15
	}
	l := &Log{began: time.Now(), metered: o.Metered}
	var id [8]byte
	rand.Read(id[:])
	l.id = binary.BigEndian.Uint64(id[:])
	l.lastReconcile.Store(l.id >> 33 << 21) // distinguishes the reconciles of several processes, by a number that JavaScript can represent
	l.lives.resize(o.Events)
	l.deliveries.size, l.arrivals.size, l.reconciles.size, l.faults.size = o.Deliveries, o.Deliveries, o.Deliveries, o.Deliveries
	l.bell.c = make(chan struct{})
	return l
}

func (l *Log) idBytes() []byte { return binary.BigEndian.AppendUint64(nil, l.id) }

// Mute stops the recording of arrivals and, unless the Log is Metered, of reconciles, when no server wants reports.
func (l *Log) Mute() { l.muted.Store(true) }

// Now is the present instant, 0 on a nil Log.
func (l *Log) Now() Instant {
	if l == nil {
		return 0
	}
	return max(1, Instant(time.Since(l.began))) // reads one clock, where time.Now reads two
}

// At is the instant of a time that has been read already.
func (l *Log) At(t time.Time) Instant {
	if l == nil {
		return 0
	}
	return max(1, Instant(t.Sub(l.began)))
}

// Time converts an instant to wall clock time.
func (l *Log) Time(i Instant) time.Time { return l.began.Add(time.Duration(i)) }

// chunk is how many entries a ring grows by.
const chunk = 64

// ring keeps the last size entries. It grows in chunks, so that a Log to which little
// happens takes little.
type ring[T any] struct {
	sync.Mutex
	size   int
	chunks []*[chunk]T
	end    uint64 // how many there ever were
}

// put adds an entry.
func (r *ring[T]) put(v T) {
	r.Lock()
	defer r.Unlock()
	*r.at(r.end) = v
	r.end++
}

func (r *ring[T]) room() uint64 { return uint64((r.size + chunk - 1) / chunk * chunk) }

func (r *ring[T]) at(n uint64) *T {
	i := int(n % r.room())
	for i/chunk >= len(r.chunks) {
		r.chunks = append(r.chunks, new([chunk]T))
	}
	return &r.chunks[i/chunk][i%chunk]
}

// copy appends the entries that pass, oldest first.
func (r *ring[T]) copy(dst []T, pass func(*T) bool) []T {
	found, _ := r.since(0, pass)
	return append(dst, found...)
}

// bell wakes the goroutines that follow a Log: its channel is closed after a new entry.
type bell struct {
	sync.Mutex
	c     chan struct{}
	heard atomic.Bool // a goroutine waits for c
}

func (b *bell) ring() {
	if !b.heard.Load() {
		return
	}
	b.Lock()
	defer b.Unlock()
	if b.heard.Swap(false) {
		close(b.c)
		b.c = make(chan struct{})
	}
}

// Changed is closed once something has been entered after the call.
func (l *Log) Changed() <-chan struct{} {
	l.bell.Lock()
	defer l.bell.Unlock()
	l.bell.heard.Store(true)
	return l.bell.c
}
