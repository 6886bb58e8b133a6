package pressure

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Small is the size in bytes below which work is never refused.
const Small = 1 << 20

// The kinds of work, in messages and metrics.
const (
	List  = "list"
	Watch = "watch"
	Body  = "body"
)

// retryAfter is when a refused client may ask again, in seconds.
const retryAfter = 1

// Guard refuses work that would exceed the limit. The nil Guard refuses nothing.
type Guard struct {
	limit int64
	live  func() int64
	// reserved is the memory that admitted work may still take.
	reserved atomic.Int64
	refused  *prometheus.CounterVec
	// collected is when a refusal has last caused a garbage collection, in Unix nanoseconds.
	collected atomic.Int64
}

// New returns a Guard of a limit in bytes. live returns the bytes of the live heap.
func New(limit int64, live func() int64) *Guard {
	g := &Guard{limit: limit, live: live, refused: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "fairlead_memory_refusals_total", Help: "Requests that were refused because memory is short, by the kind of work (list, watch or body).",
	}, []string{"kind"})}
	for _, kind := range []string{List, Watch, Body} {
		g.refused.WithLabelValues(kind)
	}
	return g
}

// ofProcess has the guards of OfProcess by their limit.
var ofProcess sync.Map

// OfProcess returns the Guard of this process for a limit in bytes; nil for 0.
func OfProcess(limit int64) *Guard {
	if limit == 0 {
		return nil
	}
	g, _ := ofProcess.LoadOrStore(limit, New(limit, liveHeap))
	return g.(*Guard)
}

// Register registers the metrics.
func (g *Guard) Register(reg *prometheus.Registry) {
	if g == nil {
		return
	}
	gauge := func(name, help string, value func() int64) {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(value()) }))
	}
	gauge("fairlead_memory_limit_bytes", "Limit on the memory of the process (--memory-limit).", func() int64 { return g.limit })
	gauge("fairlead_memory_live_bytes", "Live heap at the last garbage collection.", g.live)
	gauge("fairlead_memory_reserved_bytes", "Memory that large lists, watches and bodies in progress have reserved.", g.reserved.Load)
	reg.MustRegister(g.refused)
}

// Room is the memory that a request has reserved. The nil Room is empty.
type Room struct {
	of    *Guard
	bytes atomic.Int64
}

// Reserve takes n bytes for work of a kind until Leave, or refuses with 429.
func (g *Guard) Reserve(kind string, n int64) (*Room, error) {
	if g == nil || n < Small {
		return nil, nil
	}
	live := g.live()
	if all := g.reserved.Add(n); live+all > g.limit/4*3 {
		g.reserved.Add(-n)
		g.refused.WithLabelValues(kind).Inc()
		g.collect()
		return nil, &refusal{apierrors.NewTooManyRequests(fmt.Sprintf("the server is short of memory: this %s would take %s, with %s in use and %s reserved of the limit of %s; %s",
			kind, text(n), text(live), text(all-n), text(g.limit), advice[kind]), retryAfter)}
	}
	r := &Room{of: g}
	r.bytes.Store(n)
	return r, nil
}

// refusal is the error of Reserve.
type refusal struct{ *apierrors.StatusError }

// IsRefusal reports whether a Guard has refused the work.
func IsRefusal(err error) bool {
	_, is := errors.AsType[*refusal](err)
	return is
}

// advice tells a client how to ask for less.
var advice = map[string]string{
	List:  "ask for fewer objects at a time, by limit, or try again later",
	Watch: "watch fewer objects, or try again later",
	Body:  "try again later",
}

// Leave gives the memory back. It may be called again, from any goroutine.
func (r *Room) Leave() {
	if r != nil {
		r.of.reserved.Add(-r.bytes.Swap(0))
	}
}

// collect causes a garbage collection, unless it has done so within a second.
func (g *Guard) collect() {
	now, last := time.Now().UnixNano(), g.collected.Load()
	if now-last > int64(time.Second) && g.collected.CompareAndSwap(last, now) {
		go runtime.GC()
	}
}

// liveHeap returns the bytes of the objects that the last garbage collection has found in use.
func liveHeap() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

func text(bytes int64) string { return resource.NewQuantity(bytes>>20<<20, resource.BinarySI).String() }
