package trace

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"
)

// TestReport: another process's entries are in the lives of a server's events, with times
// of the server's clock that are late by at most a round trip and never early.
func TestReport(t *testing.T) {
	server, apart := New(Options{}), New(Options{})
	server.began = server.began.Add(-time.Hour) // so that the two clocks differ
	var told ReportCursor
	trip := time.Duration(0)
	report := func() error {
		r, to, more := apart.Report(told, 100)
		if more {
			t.Error("there is more")
		}
		r.Process, r.RoundTrip = "apart", trip
		raw, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var got Report
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		if err = server.ReceiveReport(&got); err == nil {
			told = to
		}
		return err
	}
	write(server, 7, "ns/a", Parent{})
	apart.Arrived(&Informer{Resource: "pods"}, 7, 0, apart.Now(), apart.Now(), apart.Now())
	apart.Do(t.Context(), &Reconcile{Controller: "c", Key: "ns/a", Causes: []int64{7}, Handed: apart.Now()}, func(ctx context.Context) error {
		write(server, 8, "ns/b", *FromContext(ctx))
		return nil
	})
	if err := report(); !errors.Is(err, ErrClockUnknown) {
		t.Fatalf("a process whose clock is not known: %v", err)
	}
	trip = 2 * time.Millisecond
	if err := report(); err != nil {
		t.Fatal(err)
	}
	told = ReportCursor{} // the answer was lost: all of it comes again
	if err := report(); err != nil {
		t.Fatal(err)
	}
	if err := report(); err != nil { // empty
		t.Fatal(err)
	}
	lives := server.Lives(Filter{})
	a, b := lives[0], lives[1]
	if len(a.Arrivals) != 1 || a.Arrivals[0].Process != "apart" || a.Arrivals[0].Within != trip || a.Arrivals[0].Read < a.Hops[len(a.Hops)-1].At {
		t.Fatalf("arrivals %+v after %+v", a.Arrivals, a.Hops)
	}
	w := a.Reconciles
	if len(w) != 1 || w[0].Process != "apart" || w[0].Within != trip || len(w[0].Writes) != 1 || w[0].Writes[0] != 8 {
		t.Fatalf("works %+v", w)
	}
	if w[0].Queued < a.Arrivals[0].Stored || w[0].Begun < w[0].Queued || w[0].Ended < w[0].Begun || w[0].Ended > time.Minute {
		t.Errorf("the order of %+v and %+v", a.Arrivals, w)
	}
	if b.Reconcile != w[0].Number {
		t.Errorf("the write is of work %d, not %d", b.Reconcile, w[0].Number)
	}
	if !server.HasReports() || apart.HasReports() {
		t.Error("who has been told")
	}
}

// TestReportsInParts: a long report is sent in parts, without the entries that have left
// the log.
func TestReportsInParts(t *testing.T) {
	l := New(Options{Deliveries: chunk})
	for rev := int64(1); rev <= 3*chunk; rev++ {
		l.Arrived(&Informer{}, rev, 0, 1, 2, 3)
	}
	var told ReportCursor
	var got []int64
	for more := true; more; {
		var r Report
		r, told, more = l.Report(told, 100)
		if len(r.Arrivals) > 100 {
			t.Fatalf("%d at once", len(r.Arrivals))
		}
		for _, s := range r.Arrivals {
			got = append(got, s[1])
		}
	}
	if len(got) != chunk || got[0] != 2*chunk+1 || got[chunk-1] != 3*chunk {
		t.Errorf("%d told, %v", len(got), got)
	}
	l.Mute()
	l.Arrived(&Informer{}, 1, 0, 1, 2, 3)
	if r, _, _ := l.Report(told, 100); !r.Empty() {
		t.Error("a log that was muted has something to tell")
	}
}

// TestHostileReports: the values in a report are not trusted.
func TestHostileReports(t *testing.T) {
	l := New(Options{})
	write(l, 1, "a", Parent{})
	for n := range maxProcesses + 10 {
		id := string(rune('a'+n%26)) + string(rune('0'+n))
		l.ReceiveReport(&Report{Log: id, Now: -5})
		l.ReceiveReport(&Report{Log: id, Now: 1 << 62, RoundTrip: 1, Informers: make([]Informer, 1), Arrivals: [][6]int64{{-1, 1}, {9, 1}, {0, -1}, {0, 1, 1 << 62, -1, 1}},
			Reconciles: []Reconcile{{Causes: make([]int64, 100), Ended: 1 << 62}}})
	}
	if len(l.processes.known) != maxProcesses {
		t.Errorf("%d processes", len(l.processes.known))
	}
	for _, a := range l.Lives(Filter{})[0].Arrivals {
		if a.Read > time.Hour || a.Stored > time.Hour {
			t.Fatalf("in the future: %+v", a)
		}
	}
}

// TestReportsOfManyCauses: reports with many causes have fewer entries, and lose no cause.
func TestReportsOfManyCauses(t *testing.T) {
	l := New(Options{})
	none := func(context.Context) error { return nil }
	const works = 20
	for n := range works {
		l.Do(t.Context(), &Reconcile{Controller: "c", Key: "k", Causes: make([]int64, 1+n*100%MaxCauses)}, none)
	}
	var told ReportCursor
	found := 0
	for more := true; more; {
		var r Report
		if r, told, more = l.Report(told, 100); len(r.Reconciles) == 0 || r.From[1] != uint64(found) {
			t.Fatalf("%d works from %d, want some from %d", len(r.Reconciles), r.From[1], found)
		}
		causes := 0
		for _, w := range r.Reconciles {
			if len(w.Causes) != 1+found*100%MaxCauses {
				t.Fatalf("work %d has %d causes", found, len(w.Causes))
			}
			causes += len(w.Causes)
			found++
		}
		if causes > 100*maxPassedCauses && len(r.Reconciles) > 1 {
			t.Errorf("%d causes in one report", causes)
		}
	}
	if found != works {
		t.Errorf("%d works of %d", found, works)
	}
}
