package writetrace

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"fairlead.dev/internal/server/call"
	"fairlead.dev/storage"
	"fairlead.dev/trace"
)

// Record is the trace of one request that writes.
type Record struct {
	request *http.Request
	// authorized and admitted are the times of these hops, 0 if not passed.
	authorized, admitted trace.Instant
	mu                   struct {
		sync.Mutex
		// faults are injected faults that have hit the write and have no revision yet.
		faults []*trace.InjectedFault
	}
}

// key is the key of the *Record in the context of a write.
type key struct{}

// Of returns the record of a call, nil if it is not traced.
func Of(c *call.Call) *Record {
	// A write of the server itself, caused by a request, has that request's context.
	if r := of(c.Context); r != nil && r.request == c.HTTP {
		return r
	}
	return nil
}

func of(ctx context.Context) *Record {
	r, _ := ctx.Value(key{}).(*Record)
	return r
}

// Add records an injected fault, which is entered into the trace with the next commit, or at
// the end of the request without one. withdraw takes it back until then.
func (r *Record) Add(f trace.InjectedFault) (withdraw func()) {
	if r == nil {
		return func() {}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.faults = append(r.mu.faults, &f)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.mu.faults = slices.DeleteFunc(r.mu.faults, func(one *trace.InjectedFault) bool { return one == &f })
	}
}

// enterFaults enters the faults into the trace, under the revision of the write or 0.
func (r *Record) enterFaults(l *trace.Log, rev storage.Revision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.mu.faults {
		f.Revision = int64(rev)
		l.FaultInjected(*f)
	}
	r.mu.faults = nil
}
