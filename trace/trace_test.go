package trace

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"
)

// write enters an event as a server would.
func write(l *Log, rev int64, key string, p Parent) {
	w := &Write{Verb: "create", User: "u", Parent: p}
	for h := Received; h <= Queued; h++ {
		w.At[h] = l.Now()
	}
	l.Stamp(Synced, rev, rev, l.Now())
	l.Stamp(Published, rev, rev, l.Now())
	l.Cached(rev, "pods", key, Added, 1, l.Now())
	l.Wrote(rev, w)
}

// send delivers an event by itself.
func send(to *OpenStream, rev int64) {
	var t Batch
	t.Add(rev)
	to.Framed(t, to.log.Now())
	to.Flushed(to.log.Now())
}

func revisions(lives []Life) (revs []int64) {
	for _, lf := range lives {
		revs = append(revs, lf.Revision)
	}
	return revs
}

func TestLife(t *testing.T) {
	l := New(Options{})
	write(l, 7, "ns/a", Parent{})
	s := &Stream{ID: 1, User: "reader", Resource: "pods"}
	send(l.Open(s), 7)
	l.Arrived(&Informer{Resource: "pods"}, 7, 0, l.Now(), l.Now(), l.Now())
	err := l.Do(t.Context(), &Reconcile{Controller: "c", Key: "ns/a", Causes: []int64{7}}, func(ctx context.Context) error {
		write(l, 8, "ns/b", *FromContext(ctx))
		return errors.New("no")
	})
	if err == nil {
		t.Fatal("the work's error is lost")
	}
	lives := l.Lives(Filter{})
	if got := revisions(lives); !slices.Equal(got, []int64{7, 8}) {
		t.Fatalf("lives %v", got)
	}
	a, b := lives[0], lives[1]
	if a.Namespace != "ns" || a.Name != "a" || a.Type != "ADDED" || len(a.Hops) != int(Hops) {
		t.Errorf("%+v", a)
	}
	if !slices.IsSortedFunc(a.Hops, func(x, y HopTime) int { return int(x.At - y.At) }) {
		t.Errorf("hops are not in the order of time: %v", a.Hops)
	}
	if len(a.Deliveries) != 1 || a.Deliveries[0].User != "reader" || a.Deliveries[0].Flushed < a.Deliveries[0].Framed {
		t.Errorf("deliveries %+v", a.Deliveries)
	}
	if len(a.Arrivals) != 1 || len(a.Reconciles) != 1 || a.Reconciles[0].Err != "no" || !slices.Equal(a.Reconciles[0].Writes, []int64{8}) {
		t.Errorf("arrivals %+v, works %+v", a.Arrivals, a.Reconciles)
	}
	if !slices.Equal(b.Causes, []int64{7}) || b.Reconcile != a.Reconciles[0].Number {
		t.Errorf("the second event: %+v", b)
	}
	if got := revisions(l.Tree(7)); !slices.Equal(got, []int64{7, 8}) {
		t.Errorf("tree %v", got)
	}
	if got := revisions(l.Tree(8)); !slices.Equal(got, []int64{8}) {
		t.Errorf("tree of the second %v", got)
	}
}

// TestWaitingIsNoDelay checks that a life's duration has neither the time before the watch was opened by whose
// replay a controller received the event, nor a delay that a controller wanted.
func TestWaitingIsNoDelay(t *testing.T) {
	const late = Instant(time.Minute)
	for _, c := range []struct {
		name           string
		opened, stored Instant
		w              Reconcile
		replayed       time.Duration
	}{
		{"replayed", late, late + 10, Reconcile{Handed: late + 20, Begun: late + 30, Ended: late + 40}, time.Duration(late) - 1},
		{"delayed", 0, 10, Reconcile{Handed: 20, Delay: time.Duration(late), Begun: late + 30, Ended: late + 40}, 0},
		{"without a queue", late, late + 10, Reconcile{Begun: late + 30, Ended: late + 40}, time.Duration(late) - 1},
	} {
		l := New(Options{})
		l.Cached(7, "pods", "ns/a", Added, 1, 1)
		l.Arrived(&Informer{Resource: "pods"}, 7, c.opened, c.stored, c.stored, c.stored)
		c.w.Controller, c.w.Causes = "c", []int64{7}
		l.reconciles.put(c.w)
		lf := l.Lives(Filter{})[0]
		if got := lf.Reconciles[0].Replayed; got != c.replayed {
			t.Errorf("%s: replayed after %v, want %v", c.name, got, c.replayed)
		}
		if took := lf.Duration(); took > 100 {
			t.Errorf("%s: the event took %v", c.name, took)
		}
	}
}

// TestTransaction: the first object of a transaction names the event.
func TestTransaction(t *testing.T) {
	l := New(Options{})
	l.Cached(7, "services", "ns/web", Added, 2, l.Now())
	l.Cached(7, "ipaddresses", "10.96.0.1", Added, 1, l.Now())
	if lf := l.Lives(Filter{Resource: "services"}); len(lf) != 1 || lf[0].Name != "web" || lf[0].Topics != 3 {
		t.Errorf("%+v", lf)
	}
}

func TestFilter(t *testing.T) {
	l := New(Options{})
	for rev := int64(1); rev <= 20; rev++ {
		write(l, rev, []string{"a/x", "b/y"}[rev%2], Parent{})
	}
	for _, c := range []struct {
		f    Filter
		want []int64
	}{
		{Filter{Namespace: "b", Limit: 2}, []int64{17, 19}},
		{Filter{Name: "x", From: 15}, []int64{16, 18, 20}},
		{Filter{From: 3, To: 4}, []int64{3, 4}},
		{Filter{Resource: "nodes"}, nil},
		{Filter{Since: time.Now().Add(time.Hour)}, nil},
		{Filter{Slow: time.Hour}, nil},
	} {
		if got := revisions(l.Lives(c.f)); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.f, got, c.want)
		}
	}
}

// TestBounds: the last events are kept, and an old event's data never appears in a newer
// one that takes its place.
func TestBounds(t *testing.T) {
	l := New(Options{Events: chunk, Deliveries: chunk})
	const last = 3*chunk + 10
	to := l.Open(&Stream{})
	for rev := int64(1); rev <= last; rev++ {
		write(l, rev, "a/x", Parent{})
		send(to, rev)
	}
	l.Stamp(Synced, 1, 5, 1) // too late: the events are gone
	lives := l.Lives(Filter{})
	if len(lives) != chunk || lives[0].Revision != last-chunk+1 || lives[len(lives)-1].Revision != last {
		t.Fatalf("%d lives from %d", len(lives), lives[0].Revision)
	}
	for _, lf := range lives {
		if len(lf.Hops) != int(Hops) || len(lf.Deliveries) != 1 {
			t.Fatalf("%+v", lf)
		}
	}
}

// TestBatches: a stream's batches record, for exactly their own events, whether they were
// written.
func TestBatches(t *testing.T) {
	l := New(Options{})
	for rev := int64(1); rev <= 200; rev++ {
		write(l, rev, "a/x", Parent{})
	}
	open, gone := l.Open(&Stream{ID: 1}), l.Open(&Stream{ID: 2})
	frame := func(w *OpenStream, revs ...int64) {
		var turn Batch
		for _, rev := range revs {
			if !turn.Add(rev) {
				w.Framed(turn, l.Now())
				turn = Batch{}
				turn.Add(rev)
			}
		}
		w.Framed(turn, l.Now())
	}
	frame(open, 3, 4, 67, 68, 190)
	if got := open.Reached(); got != 190 {
		t.Errorf("it has reached %d", got)
	}
	open.Flushed(l.Now())
	frame(open, 191, 193)
	frame(gone, 5)
	gone.Close()
	type sent struct {
		rev     int64
		to      uint64
		written bool
	}
	told := func() (got []sent) {
		for _, lf := range l.Lives(Filter{}) {
			for _, d := range lf.Deliveries {
				got = append(got, sent{lf.Revision, d.ID, d.Flushed != 0})
			}
		}
		return got
	}
	want := []sent{{3, 1, true}, {4, 1, true}, {5, 2, false}, {67, 1, true}, {68, 1, true}, {190, 1, true}, {191, 1, false}, {193, 1, false}}
	if got := told(); !slices.Equal(got, want) {
		t.Errorf("told\n%v, want\n%v", got, want)
	}
	if lf := l.Lives(Filter{From: 192, To: 192}); len(lf) != 1 || len(lf[0].Deliveries) != 0 {
		t.Errorf("what nobody was sent: %+v", lf)
	}
	open.Flushed(l.Now())
	want[6].written, want[7].written = true, true
	if got := told(); !slices.Equal(got, want) {
		t.Errorf("told after the write\n%v, want\n%v", got, want)
	}
}

func TestParent(t *testing.T) {
	for _, p := range []Parent{
		{Trace: [16]byte{1, 15: 9}, Span: 77},
		{Trace: [16]byte{0xfe}, Span: 1 << 63, Causes: []int64{5, 7, 1 << 60}},
	} {
		h := http.Header{}
		p.Set(h)
		if got := ParseParent(h); !reflect.DeepEqual(got, p) {
			t.Errorf("%+v came back as %+v", p, got)
		}
	}
	for _, text := range []string{
		"", "00", "00-00000000000000000000000000000000-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
		"00-4bf92f3577b34da6a3ce929d0e0e473x-00f067aa0ba902b7-01",
	} {
		if got := ParseParent(http.Header{"Traceparent": {text}}); !reflect.DeepEqual(got, Parent{}) {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
	later := ParseParent(http.Header{"Traceparent": {"01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more"}, "Tracestate": {"a=b,fairlead=3.x.4 , c=d"}})
	if later.ID() != "4bf92f3577b34da6a3ce929d0e0e4736" || !slices.Equal(later.Causes, []int64{3, 4}) {
		t.Errorf("a later version is read as %+v", later)
	}
}

// TestNil: all methods work on a nil Log.
func TestNil(t *testing.T) {
	var l *Log
	l.Wrote(1, nil)
	l.Stamp(Synced, 1, 1, l.Now())
	l.Cached(1, "pods", "a", Added, 1, 0)
	l.Open(nil).Close()
	l.Arrived(nil, 1, 0, 0, 0, 0)
	ran := false
	if err := l.Do(t.Context(), nil, func(context.Context) error { ran = true; return nil }); err != nil || !ran {
		t.Error("the work was not done")
	}
	if l.Lives(Filter{}) != nil || l.Tree(1) != nil {
		t.Error("something is kept")
	}
}

// TestPanic enters a work that panicked, and lets the panic through.
func TestPanic(t *testing.T) {
	l := New(Options{})
	write(l, 1, "a", Parent{})
	func() {
		defer func() { recover() }()
		l.Do(t.Context(), &Reconcile{Controller: "c", Causes: []int64{1}}, func(context.Context) error { panic("oh") })
		t.Error("the panic is lost")
	}()
	if w := l.Lives(Filter{})[0].Reconciles; len(w) != 1 || w[0].Err != "panic" || w[0].Ended == 0 {
		t.Errorf("works %+v", w)
	}
}

func TestTogether(t *testing.T) {
	l := New(Options{Events: chunk, Deliveries: chunk})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			to := l.Open(&Stream{})
			defer to.Close()
			for rev := int64(1); rev < 2000; rev++ {
				write(l, rev, "a/x", Parent{Causes: []int64{rev - 1}})
				send(to, rev)
				if rev%100 == 0 {
					l.Lives(Filter{Limit: 10})
					l.Tree(rev - 50)
				}
			}
		})
	}
	changed := l.Changed()
	all.Wait()
	<-changed
}

// BenchmarkStamps is all that the server and one stream enter about one event.
func BenchmarkStamps(b *testing.B) {
	l := New(Options{})
	s := l.Open(&Stream{})
	b.ReportAllocs()
	rev := int64(0)
	for b.Loop() {
		rev++
		w := &Write{Verb: "create", User: "u", Parent: ParseParent(nil)}
		for h := Received; h <= Queued; h++ {
			w.At[h] = l.Now()
		}
		l.Stamp(Synced, rev, rev, l.Now())
		l.Stamp(Published, rev, rev, l.Now())
		l.Cached(rev, "pods", "ns/name", Added, 1, l.Now())
		l.Wrote(rev, w)
		send(s, rev)
	}
}
