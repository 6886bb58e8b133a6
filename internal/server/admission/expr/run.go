package expr

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/lazy"
)

// The budgets of one object's match conditions and of one binding's other expressions.
const (
	ConditionBudget = celconfig.RuntimeCELCostBudgetMatchConditions
	Budget          = celconfig.RuntimeCELCostBudget
)

// Input holds the values of a scope's names.
type Input struct {
	// Object and Old are nil, or of the version that the configuration matches.
	Object, Old, Params runtime.Object
	// Request is an *admissionv1.AdmissionRequest without its objects; Namespace a
	// *corev1.Namespace or nil.
	Request, Namespace any
	// Authorizer is nil, or a result of [NewAuthorizer].
	Authorizer *Authorizer
}

// Run evaluates expressions of one scope for one input.
type Run struct {
	scope  *Scope
	ctx    context.Context
	values map[string]any
	// left is the remaining budget; spent is the cost of variables that has not been charged yet.
	left, spent int64
}

// Start begins a run with a budget.
func (s *Scope) Start(ctx context.Context, in Input, budget int64) *Run {
	r := &Run{scope: s, ctx: ctx, left: budget, values: map[string]any{
		"object": value(in.Object), "oldObject": value(in.Old), "params": value(in.Params),
		"request": common.SchemalessTypedToVal(in.Request), "namespaceObject": common.SchemalessTypedToVal(in.Namespace),
	}}
	if a := in.Authorizer; a != nil {
		r.values["authorizer"], r.values["authorizer.requestResource"] = a.any, a.resource
	}
	if s.variables != nil {
		r.values["variables"] = r.lazily()
	}
	return r
}

// value returns an object as a CEL value, null for nil.
func value(obj runtime.Object) any {
	switch o := obj.(type) {
	case nil:
		return nil
	case runtime.Unstructured:
		return types.DefaultTypeAdapter.NativeToValue(o.UnstructuredContent())
	}
	return common.SchemalessTypedToVal(obj)
}

// lazily returns the map of the scope's variables.
func (r *Run) lazily() ref.Val {
	m := lazy.NewMapValue(r.scope.variables)
	for _, d := range r.scope.defined {
		m.Append(d.name, func(*lazy.MapValue) ref.Val { return r.variable(d) })
	}
	return m
}

func (r *Run) variable(d definition) ref.Val {
	if d.Err != nil {
		return types.NewErr("composited variable %q fails to compile: %v", d.name, d.Err)
	}
	v, details, err := d.run.ContextEval(r.ctx, r)
	cost, ok := costOf(details)
	if !ok {
		return types.NewErr("unable to calculate cost of variable %q", d.name)
	}
	r.spent += cost
	if err != nil {
		return types.NewErr("composited variable %q fails to evaluate: %v", d.name, err)
	}
	return v
}

// ResolveName implements cel.Activation.
func (r *Run) ResolveName(name string) (any, bool) {
	v, ok := r.values[name]
	return v, ok
}

// Parent implements cel.Activation.
func (*Run) Parent() cel.Activation { return nil }

func costOf(details *cel.EvalDetails) (int64, bool) {
	if details == nil || details.ActualCost() == nil {
		return 0, false
	}
	return int64(min(*details.ActualCost(), math.MaxInt64)), true
}

// ErrBudget means that a run has exceeded its budget: its remaining expressions count as failed.
var ErrBudget = errors.New("validation failed due to running out of cost budget, no further validation rules will be run")

// Eval evaluates one expression. failed is an error of this expression alone; err ends the whole run.
func (r *Run) Eval(p *Program) (v ref.Val, failed, err error) {
	if p.Err != nil {
		return nil, &apiservercel.Error{Type: apiservercel.ErrorTypeInvalid, Detail: fmt.Sprintf("compilation error: %v", p.Err), Cause: p.Err}, nil
	}
	v, details, failed := p.run.ContextEval(r.ctx, r)
	cost, ok := costOf(details)
	if !ok {
		return nil, nil, fmt.Errorf("runtime cost could not be calculated for expression: %v, no further expression will be run", p.Expression)
	}
	cost, r.spent = cost+r.spent, 0
	if cost < 0 || cost > r.left {
		r.left = -1
		return nil, nil, ErrBudget
	}
	r.left -= cost
	if failed != nil {
		return nil, fmt.Errorf("expression '%v' resulted in error: %v", p.Expression, failed), nil
	}
	return v, nil, nil
}

// Left returns the remaining budget.
func (r *Run) Left() int64 { return r.left }

// Fatal is an error that ended a run.
type Fatal struct{ Err error }

// Error implements error.
func (f *Fatal) Error() string { return f.Err.Error() }

// All reports whether all conditions hold. If one is false, the result is false without an error; otherwise failed
// conditions return their joined errors, or a *Fatal.
func (r *Run) All(conditions []*Program) (bool, error) {
	var faults []error
	for _, p := range conditions {
		v, failed, err := r.Eval(p)
		if err != nil {
			return false, &Fatal{err}
		}
		if failed != nil {
			faults = append(faults, failed)
		} else if v == types.False {
			return false, nil
		}
	}
	return len(faults) == 0, utilerrors.NewAggregate(faults)
}
