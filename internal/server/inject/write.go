package inject

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/faults"
	"fairlead.dev/internal/server/writetrace"
	"fairlead.dev/trace"
)

// Injector applies a set of faults to the writes of a server.
type Injector struct{ Set *faults.Set }

// attempt is a write to which faults may apply.
type attempt struct {
	call *call.Call
	// checked: the faults of this write have been looked up. A request that is served anew
	// counts once.
	checked bool
}

// key is the key of the *attempt in the context of a write.
type key struct{}

// Handler decorates the handler of requests to resources, so that Verb and Admission know the
// request.
func (i *Injector) Handler(next call.Verb) call.Verb {
	return func(c *call.Call) error {
		if c.Info.Writes() {
			c.Context = context.WithValue(c.Context, key{}, &attempt{call: c})
		}
		return next(c)
	}
}

// Verb decorates a verb: a write that a fault selects fails or is delayed.
func (i *Injector) Verb(next call.Verb) call.Verb {
	return func(c *call.Call) error {
		if w, _ := c.Context.Value(key{}).(*attempt); w != nil && !w.checked {
			w.checked = true
			if err := i.apply(w); err != nil {
				return err
			}
		}
		return next(c)
	}
}

func (i *Injector) apply(w *attempt) error {
	for _, f := range i.Set.Write(target(w.call)) {
		if f.Action == faults.Fail {
			w.record(f, fmt.Sprintf("failed with %d", f.Code))
			return faultError(f)
		}
		w.record(f, fmt.Sprintf("slowed by %v", time.Duration(f.Delay)))
		select {
		case <-time.After(time.Duration(f.Delay)):
		case <-w.call.Context.Done():
			return w.call.Context.Err()
		}
	}
	return nil
}

// target describes the write to faults.
func target(c *call.Call) faults.Target {
	return faults.Target{
		User: c.UserName(), Agent: c.Agent(), Resource: c.Endpoint.ServedGR.String(),
		Namespace: c.Namespace(), Name: c.Info.Name, Verb: c.Info.Verb,
	}
}

// record adds the effect of a fault on the write to its trace. withdraw takes it back.
func (w *attempt) record(f faults.Fault, effect string) (withdraw func()) {
	c, t := w.call, target(w.call)
	return writetrace.Of(c).Add(trace.InjectedFault{
		Fault: f.ID, Action: string(f.Action), What: effect, At: time.Now(),
		Verb: t.Verb, Subresource: c.Info.Subresource, Resource: t.Resource, Namespace: t.Namespace, Name: t.Name,
		User: t.User, Agent: t.Agent, Causes: trace.ParseParent(c.HTTP.Header).Causes,
	})
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
