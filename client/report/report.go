package report

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/client"
	"fairlead.dev/trace"
)

const (
	// gather is how long to collect more entries before a batch is sent.
	gather = 100 * time.Millisecond
	// most is how many entries of each kind go at once, longest how much of an error does, and
	// patience how long a report may take.
	most     = 500
	longest  = 1000
	patience = 5 * time.Second
	// A server that does not answer is asked again after firstPause, then twice that, up
	// to longestPause.
	firstPause, longestPause = 500 * time.Millisecond, 30 * time.Second
	// lastWords is how long the last report may take, when the process ends.
	lastWords = time.Second
)

// Log returns a log for reports: it keeps arrivals and reconciles, and no lives.
func Log() *trace.Log { return trace.New(trace.Options{Events: 1, Deliveries: 8192}) }

// Run sends the entries of c's Log to c's server, until ctx ends or the server refuses
// reports, or returns at once without a Log. name is the process's name, to which the host's
// name and the process's number are added.
func Run(ctx context.Context, c *client.Client, name string) {
	if c.Trace() == nil {
		return
	}
	host, _ := os.Hostname() // the number is worth something without it
	r := &reporter{c: c, log: c.Trace(), name: fmt.Sprintf("%s@%s:%d", name, host, os.Getpid())}
	r.run(ctx)
}

type reporter struct {
	c    *client.Client
	log  *trace.Log
	name string
	told trace.ReportCursor
	// met: the server knows this process's clock. trip is how long the last report took.
	met      bool
	trip     time.Duration
	failures int
}

func (r *reporter) run(ctx context.Context) {
	for {
		changed := r.log.Changed()
		more, err := r.send(ctx, patience)
		switch {
		case ctx.Err() != nil:
			r.flush(ctx)
			return
		case isRefused(err):
			r.log.Mute()
			return
		case err != nil:
			pause := min(firstPause<<min(r.failures, 10), longestPause)
			r.failures++
			sleep(ctx, pause)
			continue
		}
		r.failures = 0
		if more {
			continue
		}
		select {
		case <-changed:
			sleep(ctx, gather)
		case <-ctx.Done():
		}
	}
}

// flush sends the remaining entries.
func (r *reporter) flush(ctx context.Context) {
	for more := r.met; more; {
		var err error
		if more, err = r.send(context.WithoutCancel(ctx), lastWords); err != nil {
			return
		}
	}
}

// send sends one report, an empty one at first, and reports whether there are more entries.
func (r *reporter) send(ctx context.Context, patience time.Duration) (more bool, err error) {
	report, told, more := r.log.Report(r.told, most)
	if !r.met {
		more, told = true, r.told
		report.Informers, report.Arrivals, report.Reconciles = nil, nil, nil
	} else if report.Empty() {
		return false, nil
	}
	for i, w := range report.Reconciles {
		report.Reconciles[i].Err = w.Err[:min(len(w.Err), longest)]
	}
	report.Process, report.RoundTrip = r.name, r.trip
	report.Now = r.log.Now()
	body, err := json.Marshal(report)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	begun := r.log.Now()
	_, err = r.c.REST().Do(ctx, client.Request{Method: http.MethodPost, Path: trace.Path, Body: body})
	r.trip = time.Duration(r.log.Now() - begun)
	switch {
	case apierrors.IsConflict(err): // it does not know the clock any more; with the next report it does
		return false, err
	case err != nil:
		r.trip = 0 // it may not have come
		return false, err
	}
	r.met, r.told = true, told
	return more, nil
}

// isRefused reports whether the server refuses reports permanently.
func isRefused(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err) ||
		apierrors.IsBadRequest(err) || apierrors.IsUnsupportedMediaType(err) || apierrors.IsNotAcceptable(err)
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
