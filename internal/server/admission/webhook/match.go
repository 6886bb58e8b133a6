package webhook

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/admission/dynamic"
	"fairlead.dev/internal/server/admission/expr"
)

// views are the views of one state of a request, by target.
type views map[dynamic.Target]*dynamic.View

func (v views) of(ctx context.Context, r *admission.Request, t dynamic.Target) (*dynamic.View, error) {
	if v[t] == nil {
		view, err := dynamic.NewView(ctx, r, t)
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		v[t] = view
	}
	return v[t], nil
}

// wants returns the view of the request to send to the webhook, nil if it does not match.
func (c *common) wants(ctx context.Context, h *hook, r *admission.Request, all views) (*dynamic.View, error) {
	selected, err := h.selectors.Match(ctx, r, c.lookup)
	if !selected && err == nil {
		return nil, nil
	}
	target, ok := h.rules.Match(r, c.rows)
	if !ok {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	view, err := all.of(ctx, r, target)
	if err != nil || len(h.conditions) == 0 {
		return view, err
	}
	ok, err = c.meets(ctx, h, r, view)
	switch {
	case err != nil && h.ignores(), err == nil && !ok:
		return nil, nil
	case err != nil:
		return nil, apierrors.NewForbidden(r.GroupResource(), r.Name, err)
	}
	return view, nil
}

// meets evaluates the match conditions: one that is false decides, even if others fail.
func (c *common) meets(ctx context.Context, h *hook, r *admission.Request, v *dynamic.View) (bool, error) {
	request, err := v.Request()
	if err != nil {
		return false, err
	}
	run := expr.Plain(expr.Stored).Start(ctx, expr.Input{
		Object: v.Object, Old: v.Old, Request: request,
		Authorizer: expr.NewAuthorizer(c.authorizer, r.User, expr.TargetOf(r)),
	}, expr.ConditionBudget)
	programs := make([]*expr.Program, len(h.conditions))
	for i, c := range h.conditions {
		programs[i] = c.Program
	}
	ok, err := run.All(programs)
	var whole *expr.Fatal
	if errors.As(err, &whole) {
		return false, whole.Err
	}
	return ok, err
}
