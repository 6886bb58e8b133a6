package policy

import (
	"context"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/admission/dynamic"
	"fairlead.dev/internal/server/admission/expr"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/watchcache"
)

// Caches are the caches of one sort of policies and of their bindings.
type Caches struct{ Policies, Bindings *watchcache.Cache }

// Options configure the plugins.
type Options struct {
	Mutating, Validating Caches
	Lookup               admission.Lookup
	Authorizer           auth.Authorizer
	Rows                 dynamic.Table
	// Metrics, if set, counts the effects of policies.
	Metrics *Metrics
}

// New returns the two plugins.
func New(o Options) (admission.Mutator, admission.Validator) {
	c := common{lookup: o.Lookup, authorizer: o.Authorizer, rows: o.Rows, metrics: o.Metrics}
	return &mutating{
			common:   c,
			policies: dynamic.NewConfigured(o.Mutating.Policies, compileMutating),
			bindings: dynamic.NewConfigured(o.Mutating.Bindings, readMutatingBinding),
			types:    newConverters(),
		}, &validating{
			common:   c,
			policies: dynamic.NewConfigured(o.Validating.Policies, compileValidating),
			bindings: dynamic.NewConfigured(o.Validating.Bindings, readValidatingBinding),
		}
}

type common struct {
	lookup     admission.Lookup
	authorizer auth.Authorizer
	rows       dynamic.Table
	metrics    *Metrics
}

// policy is the common part of both sorts of policies.
type policy struct {
	name       string
	param      *admissionv1.ParamKind
	match      match
	conditions []*expr.Program
	scope      *expr.Scope
	ignore     bool // failures are ignored
}

// binding is the common part of both sorts of bindings.
type binding struct {
	name, policy string
	param        *admissionv1.ParamRef
	match        *match
	actions      []admissionv1.ValidationAction
}

// match is a compiled MatchResources.
type match struct {
	selectors         dynamic.Selectors
	include, excluded dynamic.Rules
}

func newMatch(m *admissionv1.MatchResources) match {
	if m == nil {
		m = &admissionv1.MatchResources{}
	}
	return match{
		selectors: dynamic.NewSelectors(m.NamespaceSelector, m.ObjectSelector),
		include:   dynamic.Rules{List: m.ResourceRules, Policy: m.MatchPolicy},
		excluded:  dynamic.Rules{List: m.ExcludeResourceRules, Policy: m.MatchPolicy},
	}
}

// of returns the target for which the request matches. ok is false if it does not match.
func (m *match) of(ctx context.Context, r *admission.Request, c *common) (t dynamic.Target, ok bool, err error) {
	selected, err := m.selectors.Match(ctx, r, c.lookup)
	if !selected && err == nil {
		return t, false, nil
	}
	if _, out := m.excluded.Match(r, c.rows); out {
		return t, false, nil
	}
	if t, ok = (dynamic.Target{Row: r.Resource, Version: r.Version}), true; len(m.include.List) > 0 {
		t, ok = m.include.Match(r, c.rows)
	}
	if !ok {
		return t, false, nil
	}
	return t, err == nil, err
}

// fault is a policy that failed or rejected the request.
type fault struct {
	policy, binding string // binding is empty for a fault of the policy itself
	err             error
}

// text names the policy, with its sort.
func (f *fault) text(what string) string {
	switch {
	case f.binding == "" && what == "policy":
		return fmt.Sprintf("policy %q denied request: %v", f.policy, f.err)
	case f.binding == "":
		return fmt.Sprintf("%s '%s' denied request: %v", what, f.policy, f.err)
	}
	return fmt.Sprintf("%s '%s' with binding '%s' denied request: %v", what, f.policy, f.binding, f.err)
}

// use is a policy with a matching binding and its parameters.
type use struct {
	binding *binding
	target  dynamic.Target
	params  []runtime.Object // a single nil if the policy takes no parameters
}

// uses returns the matching uses of one policy.
func (c *common) uses(ctx context.Context, r *admission.Request, p *policy, bindings []*binding) (list []use, faults []*fault) {
	target, ok, err := p.match.of(ctx, r, c)
	if err == nil && !ok {
		return nil, nil
	}
	var kind paramSource
	if err == nil {
		kind, err = c.paramSource(p.param)
	}
	if err != nil {
		return nil, []*fault{{p.name, "", fmt.Errorf("failed to configure policy: %w", err)}}
	}
	for _, b := range bindings {
		if b.policy != p.name {
			continue
		}
		var params []runtime.Object
		ok, err := true, error(nil)
		if b.match != nil {
			_, ok, err = b.match.of(ctx, r, c)
		}
		if err == nil && !ok {
			continue
		}
		if err == nil {
			params, err = c.params(ctx, kind, b.param, r.Home())
		}
		if err != nil {
			faults = append(faults, &fault{p.name, b.name, fmt.Errorf("failed to configure binding: %w", err)})
			continue
		}
		list = append(list, use{b, target, params})
	}
	return list, faults
}

// bound reports whether a policy has any binding.
func bound(p *policy, bindings []*binding) bool {
	for _, b := range bindings {
		if b.policy == p.name {
			return true
		}
	}
	return false
}

// namespace returns the value of namespaceObject: nil for cluster-scoped objects, including namespaces.
func (c *common) namespace(ctx context.Context, r *admission.Request) (*corev1.Namespace, error) {
	if r.Namespace == "" {
		return nil, nil
	}
	ns, err := dynamic.Namespace(ctx, c.lookup, r.Namespace)
	if err != nil {
		return nil, err
	}
	shown := ns.DeepCopy()
	shown.ManagedFields, shown.OwnerReferences = nil, nil
	return shown, nil
}

// meets evaluates a policy's match conditions. If the policy ignores failures, a failed evaluation is a non-match.
func (p *policy) meets(ctx context.Context, in expr.Input) (bool, error) {
	if len(p.conditions) == 0 {
		return true, nil
	}
	in.Namespace = nil
	ok, err := p.scope.Start(ctx, in, expr.ConditionBudget).All(p.conditions)
	if err != nil && p.ignore {
		return false, nil
	}
	var whole *expr.Fatal
	if errors.As(err, &whole) {
		err = whole.Err
	}
	return ok, err
}
