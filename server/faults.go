package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/faults"
	"fairlead.dev/trace"
)

// FaultsPath lists injected faults (GET), adds one (POST of a faults.Fault), and removes all
// (DELETE) or one, by its number below the path. A server without Config.Faults answers 403.
const FaultsPath = "/debug/faults"

// FaultList is the response of FaultsPath.
type FaultList struct {
	Faults []faults.Fault `json:"faults"`
}

// faults serves FaultsPath.
func (c *call) faults(id string) error {
	set := c.s.cfg.Faults
	if set == nil {
		return apistatus.New(http.StatusForbidden, metav1.StatusReasonForbidden, "fault injection is disabled; start the server with --allow-faults")
	}
	number := uint64(0)
	if id != "" {
		var err error
		if number, err = strconv.ParseUint(id, 10, 64); err != nil || number == 0 {
			return apistatus.ErrPathNotFound
		}
	}
	switch {
	case c.req.Method == http.MethodGet && id == "":
		return c.writeJSON(http.StatusOK, FaultList{set.List()})
	case c.req.Method == http.MethodPost && id == "":
		body, err := c.body()
		if err != nil {
			return err
		}
		var f faults.Fault
		in := json.NewDecoder(strings.NewReader(string(body)))
		in.DisallowUnknownFields()
		if err := in.Decode(&f); err != nil {
			return apierrors.NewBadRequest("no fault: " + err.Error())
		}
		if f, err = set.Add(c.ctx, f); err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
		return c.writeJSON(http.StatusCreated, f)
	case c.req.Method == http.MethodDelete:
		if errors.Is(set.Remove(number), faults.ErrNotFound) {
			return apistatus.New(http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("there is no fault %d", number))
		}
		return c.writeJSON(http.StatusOK, FaultList{set.List()})
	}
	return apistatus.MethodNotAllowed()
}

// injectFaults fails or delays a write that a fault selects.
func (c *call) injectFaults() error {
	if c.s.cfg.Faults == nil || c.faultsChecked || !writes(c.info.Verb) {
		return nil
	}
	c.faultsChecked = true
	t := c.faultTarget()
	for _, f := range c.s.cfg.Faults.Write(t) {
		one := c.newInjectedFault(f, t)
		if f.Action == faults.Fail {
			one.What = fmt.Sprintf("failed with %d", f.Code)
			c.injectedFaults = append(c.injectedFaults, one)
			return faultError(f)
		}
		one.What = fmt.Sprintf("slowed by %v", time.Duration(f.Delay))
		c.injectedFaults = append(c.injectedFaults, one)
		select {
		case <-time.After(time.Duration(f.Delay)):
		case <-c.ctx.Done():
			return c.ctx.Err()
		}
	}
	return nil
}

// faultTarget describes the write to faults.
func (c *call) faultTarget() faults.Target {
	return faults.Target{
		User: userName(c.user), Agent: c.agent(), Resource: c.ep.ServedGR.String(),
		Namespace: c.namespace(), Name: c.info.Name, Verb: c.info.Verb,
	}
}

// newInjectedFault describes the effect of a fault on the write, except What.
func (c *call) newInjectedFault(f faults.Fault, t faults.Target) trace.InjectedFault {
	return trace.InjectedFault{
		Fault: f.ID, Action: string(f.Action), At: time.Now(),
		Verb: t.Verb, Subresource: c.info.Subresource, Resource: t.Resource, Namespace: t.Namespace, Name: t.Name,
		User: t.User, Agent: t.Agent, Causes: trace.ParseParent(c.req.Header).Causes,
	}
}

func writes(verb string) bool {
	switch verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return true
	}
	return false
}

// faultError returns the error of a write that a fault fails.
func faultError(f faults.Fault) error {
	text := fmt.Sprintf("fault %d on purpose: this write fails", f.ID)
	switch f.Code {
	case http.StatusForbidden:
		return apistatus.New(int32(f.Code), metav1.StatusReasonForbidden, text)
	case http.StatusConflict:
		return apistatus.New(int32(f.Code), metav1.StatusReasonConflict, text)
	case http.StatusTooManyRequests:
		return apierrors.NewTooManyRequests(text, 1)
	case http.StatusServiceUnavailable:
		return apierrors.NewServiceUnavailable(text)
	case http.StatusGatewayTimeout:
		return apierrors.NewTimeoutError(text, 0)
	}
	return apierrors.NewInternalError(errors.New(text))
}

// breaker is the server as its faults.Set uses it.
type breaker struct{ s *Server }

// Changed implements faults.Breaker.
func (b breaker) Changed() { b.s.streams.Wake() }

// Drop implements faults.Breaker.
func (b breaker) Drop(id uint64, meant func(faults.Target) bool) int {
	return b.s.streams.Drop(id, meant)
}

// Expire implements faults.Breaker.
func (b breaker) Expire(ctx context.Context, id uint64) (n int, err error) {
	store := b.s.cfg.Store
	leases, err := store.Leases(ctx)
	if err != nil {
		return 0, err
	}
	before, err := store.Current(ctx)
	if err != nil {
		return 0, err
	}
	keys := map[string]bool{}
	for _, l := range leases {
		lease, err := store.Lease(ctx, l)
		if err != nil || len(lease.Keys) == 0 { // expired, or without keys
			continue
		}
		for _, k := range lease.Keys {
			keys[k] = true
		}
		if store.Revoke(ctx, l) == nil {
			n++
		}
	}
	return n, b.expired(ctx, id, before, keys)
}
