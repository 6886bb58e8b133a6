package webhook

import (
	"context"
	"sync"
	"time"

	reviewv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/admission/dynamic"
)

type validating struct {
	common
	hooks *dynamic.Configured[[]*hook]
}

// Name implements admission.Plugin.
func (*validating) Name() string { return "ValidatingAdmissionWebhook" }

// Validate implements admission.Validator.
func (p *validating) Validate(ctx context.Context, r *admission.Request) error {
	list, err := p.hooks.List(ctx, dynamic.Present(r))
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if len(list) == 0 || dynamic.Exempt(r) {
		return nil
	}
	type question struct {
		*hook
		at     int // among all webhooks
		view   *dynamic.View
		answer *reviewv1.AdmissionResponse
		err    error
		took   time.Duration
	}
	var ask []*question
	all := views{}
	at := -1
	for _, hooks := range list {
		for _, h := range hooks {
			at++
			view, err := p.wants(ctx, h, r, all)
			if err != nil {
				return err
			}
			if view != nil {
				ask = append(ask, &question{hook: h, at: at, view: view})
			}
		}
	}
	for _, q := range ask { // encoded before they are shared
		if _, err := q.view.Text(); err != nil {
			return apierrors.NewInternalError(err)
		}
		if _, err := q.view.OldText(); err != nil {
			return apierrors.NewInternalError(err)
		}
	}
	if len(ask) > 0 && ctx.Err() != nil {
		return apierrors.NewTimeoutError("request did not complete within requested timeout", 0)
	}
	var asked sync.WaitGroup
	for _, q := range ask {
		asked.Go(func() {
			began := time.Now()
			q.answer, q.err = p.ask(ctx, q.hook, q.view, r.DryRun, false)
			q.took = time.Since(began)
		})
	}
	asked.Wait()
	var first error
	var longest time.Duration // they were asked at once
	for _, q := range ask {
		longest = max(longest, q.took)
		err, outcome := settle(ctx, q.hook, q.err), q.err
		if q.answer != nil {
			warn(r, q.answer)
			annotate(ctx, q.hook, q.answer)
			if !q.answer.Allowed {
				no := refusal(q.Name, q.answer.Result)
				err, outcome = no, denied{no}
			}
		}
		p.metrics.asked(q.hook, "validating", r.Verb, outcome, q.took)
		if err == nil && q.err != nil {
			annotateFailedOpen(ctx, q.hook, "validating", place(false, q.at))
		}
		if first == nil {
			first = err
		}
	}
	waited(r, longest)
	return first
}

// waited adds to the time for which a request waited for webhooks.
func waited(r *admission.Request, d time.Duration) {
	if r.Waits != nil {
		r.Waits.Wait(d)
	}
}

func warn(r *admission.Request, a *reviewv1.AdmissionResponse) {
	for _, text := range a.Warnings {
		if r.Warn != nil {
			r.Warn(text)
		}
	}
}
