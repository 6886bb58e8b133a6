package testcluster

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// Fault is a fault to inject into the API server, as `fairlead fault add` does; docs/trace.md describes the actions.
type Fault struct {
	// Action is hold, delay, reorder, drop, pause, fail, slow or expire.
	Action string
	// Client selects the watches or writes of a client: a user, the last part of a user's name, or the beginning of a
	// user agent. Resource ("pods", "deployments.apps"), Namespace, Name and Verb select requests. "" selects all.
	Client, Resource, Namespace, Name, Verb string
	// Delay is that of delay, slow and reorder.
	Delay time.Duration
	// Nth is the first write that fail or slow applies to, counted from now, and Times their number, below 0 for all;
	// 0 means 1.
	Nth, Times int
	// Code is the status code of a failed write; 0 means 500.
	Code int
}

func (e *Env) addFaults(ctx context.Context, all []Fault) error {
	for _, f := range all {
		if _, err := e.AddFault(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// AddFault injects a fault. remove ends it, and delivers the events that it held back.
func (e *Env) AddFault(ctx context.Context, f Fault) (remove func(context.Context) error, err error) {
	const path = "/debug/faults"
	q := map[string]any{
		"action": f.Action, "client": f.Client, "resource": f.Resource, "namespace": f.Namespace, "name": f.Name,
		"verb": f.Verb, "nth": f.Nth, "times": f.Times, "code": f.Code,
	}
	if f.Delay != 0 {
		q["delay"] = f.Delay.String()
	}
	var added struct{ ID uint64 }
	if err := e.api.do(ctx, http.MethodPost, path, q, &added); err != nil {
		return nil, fmt.Errorf("%s: fault %q: %w", agent, f.Action, err)
	}
	return func(ctx context.Context) error {
		return e.api.do(ctx, http.MethodDelete, fmt.Sprintf("%s/%d", path, added.ID), nil, nil)
	}, nil
}
