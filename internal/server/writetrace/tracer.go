package writetrace

import (
	"context"

	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/write"
	"fairlead.dev/storage"
	"fairlead.dev/trace"
)

// Tracer enters the writes of a server into a log.
type Tracer struct{ Log *trace.Log }

// Handler decorates the handler of authorized requests to resources: a write has a Record.
func (t *Tracer) Handler(next call.Verb) call.Verb {
	return func(c *call.Call) error {
		if !c.Info.Writes() {
			return next(c)
		}
		r := &Record{request: c.HTTP, authorized: t.Log.Now()}
		c.Context = context.WithValue(c.Context, key{}, r)
		defer r.enterFaults(t.Log, 0)
		return next(c)
	}
}

// Admission decorates an admission chain: a write that has passed validation is admitted.
func (t *Tracer) Admission(next write.Admission) write.Admission { return admissionTracer{next, t.Log} }

type admissionTracer struct {
	write.Admission
	log *trace.Log
}

// Validate implements write.Admission.
func (a admissionTracer) Validate(ctx context.Context, r *admission.Request) error {
	err := a.Admission.Validate(ctx, r)
	if rec := of(ctx); err == nil && rec != nil {
		rec.admitted = a.log.Now()
	}
	return err
}

// Committer decorates a committer: it enters each write into the log under the revision of its
// event.
func (t *Tracer) Committer(next write.Committer) write.Committer { return committer{next, t.Log} }

type committer struct {
	next write.Committer
	log  *trace.Log
}

// Commit implements write.Committer.
func (t committer) Commit(c *call.Call, txn storage.Txn) (storage.TxnResult, error) {
	queued := t.log.Now()
	res, err := t.next.Commit(c, txn)
	if err == nil && res.Changed {
		t.wrote(c, res.Revision, queued)
	}
	return res, err
}

func (t committer) wrote(c *call.Call, rev storage.Revision, queued trace.Instant) {
	var at [trace.Queued + 1]trace.Instant
	at[trace.Received], at[trace.Queued] = t.log.At(c.Start), queued
	if r := Of(c); r != nil {
		r.enterFaults(t.log, rev)
		at[trace.Authorized], at[trace.Admitted] = r.authorized, r.admitted
	}
	if at[trace.Admitted] == 0 { // writes such as a binding skip admission
		at[trace.Admitted] = queued
	}
	t.log.Wrote(int64(rev), &trace.Write{
		Verb: c.Info.Verb, Subresource: c.Info.Subresource,
		User: c.UserName(), Agent: c.Agent(),
		Parent: trace.ParseParent(c.HTTP.Header),
		At:     at,
	})
}
