package policy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/admission/dynamic"
	"fairlead.dev/internal/server/admission/expr"
)

type validating struct {
	common
	policies *dynamic.Configured[*validatingPolicy]
	bindings *dynamic.Configured[*binding]
}

// Name implements admission.Plugin.
func (*validating) Name() string { return "ValidatingAdmissionPolicy" }

// denial is a validation that a request fails.
type denial struct {
	*fault
	reason metav1.StatusReason
	// rule is the index of the failed validation.
	rule int
	// took is the duration of the evaluation.
	took time.Duration
}

// Validate implements admission.Validator.
func (p *validating) Validate(ctx context.Context, r *admission.Request) error {
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
	var first *denial
	notes := notes{policies: map[string]map[string][]string{}}
	defer notes.publish(ctx)
	deny := func(d *denial) {
		if first == nil {
			first = d
		}
	}
	for _, pol := range policies {
		if !bound(&pol.policy, bindings) {
			continue
		}
		uses, faults := p.uses(ctx, r, &pol.policy, bindings)
		for _, f := range faults {
			if !pol.ignore {
				deny(&denial{fault: f})
			}
		}
		for _, u := range uses {
			if err := p.enforce(ctx, r, pol, u, deny, &notes); err != nil {
				return err
			}
		}
	}
	if first == nil {
		return nil
	}
	return first.status(r)
}

// enforce evaluates a policy with each of its parameters, and takes the actions of the binding.
func (p *validating) enforce(ctx context.Context, r *admission.Request, pol *validatingPolicy, u use, deny func(*denial), notes *notes) error {
	for _, param := range u.params {
		in, err := p.input(ctx, r, u.target, param)
		if err != nil {
			return err
		}
		list, let := pol.judge(ctx, in)
		for _, d := range let {
			p.metrics.checked(pol.name, u.binding.name, d.err, allowed, d.took)
		}
		for _, d := range list {
			d.fault.binding = u.binding.name
			for _, a := range u.binding.actions {
				p.metrics.checked(pol.name, u.binding.name, d.err, a, d.took)
				switch {
				case a == admissionv1.Deny:
					deny(d)
				case a == admissionv1.Audit:
					notes.failed(pol.name, u.binding, d)
				case a == admissionv1.Warn && r.Warn != nil:
					r.Warn(fmt.Sprintf("Validation failed for ValidatingAdmissionPolicy '%s' with binding '%s': %v", pol.name, u.binding.name, d.err))
				}
			}
		}
		if err := pol.annotate(ctx, in, notes); err != nil && !pol.ignore {
			deny(&denial{fault: &fault{pol.name, u.binding.name, err}})
		}
	}
	return nil
}

// input returns the values for a policy's expressions.
func (c *common) input(ctx context.Context, r *admission.Request, t dynamic.Target, param runtime.Object) (in expr.Input, err error) {
	view, err := dynamic.NewView(ctx, r, t)
	if err != nil {
		return in, apierrors.NewInternalError(err)
	}
	request, err := view.Request()
	if err != nil {
		return in, apierrors.NewInternalError(err)
	}
	ns, err := c.namespace(ctx, r)
	if err != nil {
		return in, err
	}
	in = expr.Input{
		Object: view.Object, Old: view.Old, Params: param, Request: request,
		Authorizer: expr.NewAuthorizer(c.authorizer, r.User, expr.TargetOf(r)),
	}
	if ns != nil {
		in.Namespace = ns
	}
	return in, nil
}

// judge returns the request's violations of the policy, and the evaluation errors that the policy ignores.
func (p *validatingPolicy) judge(ctx context.Context, in expr.Input) (list, let []*denial) {
	began, at := time.Now(), 0
	fail := func(err error) {
		d := &denial{fault: &fault{policy: p.name, err: err}, rule: at, took: time.Since(began)}
		if p.ignore {
			let = append(let, d)
		} else {
			list = append(list, d)
		}
	}
	ok, err := p.meets(ctx, in)
	if err != nil {
		fail(err)
		return list, let
	}
	if !ok {
		return nil, nil
	}
	run := p.scope.Start(ctx, in, expr.Budget)
	for i := range p.rules {
		rule := &p.rules[i]
		began, at = time.Now(), i
		v, failed, err := run.Eval(rule.check)
		switch {
		case err != nil:
			list = nil // one error stands for all of them
			fail(err)
			return list, let
		case failed != nil:
			fail(failed)
		case !expr.IsTrue(v):
			reason := metav1.StatusReasonInvalid
			if rule.Reason != nil {
				reason = *rule.Reason
			}
			text, err := rule.text(run)
			if err != nil {
				fail(fmt.Errorf("failed messageExpression: %w", err))
				continue
			}
			list = append(list, &denial{&fault{policy: p.name, err: errors.New(text)}, reason, i, time.Since(began)})
		}
	}
	return list, let
}

// maxMessage is the maximum length in bytes of a computed message.
const maxMessage = 5 * 1024

// text returns the message of a failed rule: the computed one if it is a valid single line, else the fixed one,
// else the rule's expression.
func (r *rule) text(run *expr.Run) (string, error) {
	if r.message != nil {
		v, _, err := run.Eval(r.message)
		if err != nil {
			return "", err
		}
		if s := strings.TrimSpace(expr.Text(v)); s != "" && len(s) <= maxMessage && !strings.Contains(s, "\n") {
			return s, nil
		}
	}
	if s := strings.TrimSpace(r.Message); s != "" {
		return s, nil
	}
	return "failed expression: " + strings.TrimSpace(r.Expression), nil
}

// annotate evaluates the audit annotations.
func (p *validatingPolicy) annotate(ctx context.Context, in expr.Input, notes *notes) error {
	if len(p.annotations) == 0 {
		return nil
	}
	if ok, err := p.meets(ctx, in); err != nil || !ok {
		return nil
	}
	run := p.scope.Start(ctx, in, expr.Budget)
	for _, a := range p.annotations {
		v, failed, err := run.Eval(a.value)
		if err != nil || failed != nil {
			return errors.Join(failed, err)
		}
		notes.add(p.name, a.key, strings.TrimSpace(expr.Text(v)))
	}
	return nil
}

// status returns the response to a denied request.
func (d *denial) status(r *admission.Request) error {
	text := d.text("ValidatingAdmissionPolicy")
	s := admission.Forbidden(r, errors.New(text))
	if d.reason == "" {
		d.reason = metav1.StatusReasonInvalid
	}
	s.ErrStatus.Reason = d.reason
	switch d.reason {
	case metav1.StatusReasonForbidden:
		s.ErrStatus.Code = http.StatusForbidden
	case metav1.StatusReasonUnauthorized:
		s.ErrStatus.Code = http.StatusUnauthorized
	case metav1.StatusReasonRequestEntityTooLarge:
		s.ErrStatus.Code = http.StatusRequestEntityTooLarge
	default:
		s.ErrStatus.Code = http.StatusUnprocessableEntity
	}
	s.ErrStatus.Details.Causes = append(s.ErrStatus.Details.Causes, metav1.StatusCause{Message: text})
	return s
}
