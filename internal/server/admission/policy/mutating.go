package policy

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/admission/dynamic"
	"fairlead.dev/internal/server/admission/expr"
)

type mutating struct {
	common
	policies *dynamic.Configured[*mutatingPolicy]
	bindings *dynamic.Configured[*binding]
	types    *converters
}

// Name implements admission.Plugin.
func (*mutating) Name() string { return "MutatingAdmissionPolicy" }

// Admit implements admission.Mutator.
func (p *mutating) Admit(ctx context.Context, r *admission.Request) error {
	bindings, err := p.bindings.List(ctx, dynamic.Present(r))
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if len(bindings) == 0 || dynamic.Exempt(r) {
		return nil
	}
	policies, err := p.policies.List(ctx, dynamic.Present(r))
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	rounds := admission.Note[dynamic.Rounds](r, p)
	rounds.Begin(r)
	defer rounds.End(r)
	var denied []*denial
	for _, pol := range policies {
		if !bound(&pol.policy, bindings) {
			continue
		}
		uses, faults := p.uses(ctx, r, &pol.policy, bindings)
		var list []*denial
		for _, f := range faults {
			list = append(list, &denial{fault: f, reason: metav1.StatusReasonForbidden})
		}
		for _, u := range uses {
			for _, param := range u.params {
				f, err := p.invoke(ctx, r, pol, u, param, rounds)
				if err != nil {
					return err
				}
				list = append(list, f...)
			}
		}
		if !pol.ignore {
			denied = append(denied, list...)
		}
	}
	if len(denied) == 0 {
		return nil
	}
	s := admission.Forbidden(r, errors.New("admission request denied by policy"))
	s.ErrStatus.Reason, s.ErrStatus.Message = denied[0].reason, denied[0].text("policy")
	for _, d := range denied {
		s.ErrStatus.Details.Causes = append(s.ErrStatus.Details.Causes, metav1.StatusCause{Message: d.text("policy")})
	}
	return s
}

// invoke applies the mutations of a policy with one parameter. A mutation that fails leaves the object unchanged.
func (p *mutating) invoke(ctx context.Context, r *admission.Request, pol *mutatingPolicy, u use, param runtime.Object, rounds *dynamic.Rounds) (denied []*denial, err error) {
	fail := func(err error) {
		denied = append(denied, &denial{fault: &fault{pol.name, u.binding.name, err}, reason: metav1.StatusReasonInvalid})
	}
	in, err := p.input(ctx, r, u.target, param)
	if err != nil {
		return nil, err
	}
	switch ok, err := pol.meets(ctx, in); {
	case err != nil:
		fail(err)
		return denied, nil
	case !ok:
		return nil, nil
	}
	id := pol.name + "/" + u.binding.name
	if m, err := meta.Accessor(param); param != nil && err == nil {
		id += "/" + m.GetNamespace() + "/" + m.GetName()
	}
	if !rounds.Asks(r, id) {
		return nil, nil
	}
	changed := false
	for _, m := range pol.mutations {
		if r.Object == nil {
			continue
		}
		if in, err = p.input(ctx, r, u.target, param); err != nil {
			return nil, err
		}
		before, began := r.Object, time.Now()
		err := p.change(ctx, r, pol, m, u.target, in)
		p.metrics.changed(pol.name, u.binding.name, err, time.Since(began))
		switch {
		case err != nil && isStatus(err):
			return nil, err
		case err != nil:
			fail(err)
		default:
			changed = changed || !equality.Semantic.DeepEqual(before, r.Object)
		}
	}
	if changed {
		rounds.Changed(r)
	}
	if pol.again {
		rounds.MayAskAgain(id)
	}
	return denied, nil
}

func isStatus(err error) bool {
	var s *apierrors.StatusError
	return errors.As(err, &s)
}

// change applies one mutation.
func (p *mutating) change(ctx context.Context, r *admission.Request, pol *mutatingPolicy, m mutation, t dynamic.Target, in expr.Input) error {
	if m.program.Err != nil {
		return m.program.Err
	}
	v, failed, err := pol.scope.Start(ctx, in, expr.Budget).Eval(m.program)
	if err != nil || failed != nil {
		return errors.Join(failed, err)
	}
	view, err := dynamic.NewView(ctx, r, t)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	var obj runtime.Object
	if m.apply {
		config, err := expr.Configuration(v)
		if err != nil {
			return err
		}
		obj, err = p.types.apply(view, config)
		if err != nil {
			return err
		}
	} else {
		patch, err := expr.Patch(v)
		if err != nil {
			return err
		}
		if obj, err = patched(ctx, view, patch); err != nil || obj == nil {
			return err
		}
	}
	if err := view.Put(ctx, obj); err != nil {
		return apierrors.NewInternalError(err)
	}
	return nil
}
