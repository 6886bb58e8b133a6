package expr

import (
	"math/rand/v2"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	corev1 "k8s.io/api/core/v1"
)

// functions are those beside CEL's own; each with arguments is a method of its first argument too.
func functions() []cel.EnvOption {
	dyn, text, number := cel.DynType, cel.StringType, cel.DoubleType
	return []cel.EnvOption{
		cel.Function("Now", cel.Overload("now", nil, cel.TimestampType, of(func([]ref.Val) ref.Val {
			return types.Timestamp{Time: time.Now()}
		}))),
		cel.Function("Rand", cel.Overload("rand", nil, number, of(func([]ref.Val) ref.Val { return types.Double(rand.Float64()) }))),
		both("UnixSecond", number, unixSecond, []*cel.Type{dyn}),
		both("SinceSecond", number, sinceSecond, []*cel.Type{dyn}),
		both("Quantity", number, quantity, []*cel.Type{dyn}),
		both("Usage", number, used(Meter.Usage), []*cel.Type{dyn, text}, []*cel.Type{dyn, text, text}),
		both("CumulativeUsage", number, used(Meter.Cumulative), []*cel.Type{dyn, text}, []*cel.Type{dyn, text, text}),
		cel.Function("startedOn", cel.Overload("startedOn", []*cel.Type{dyn}, number, of(started))),
		cel.Macros(cel.GlobalMacro("StartedContainersTotal", 1, startedHere), cel.ReceiverMacro("StartedContainersTotal", 0, startedHere)),
	}
}

func of(f func(args []ref.Val) ref.Val) cel.OverloadOpt {
	return cel.FunctionBinding(func(args ...ref.Val) ref.Val { return f(args) })
}

// both declares a function, and a method of its first argument, for each list of arguments.
func both(name string, result *cel.Type, f func([]ref.Val) ref.Val, lists ...[]*cel.Type) cel.EnvOption {
	var options []cel.FunctionOpt
	for _, args := range lists {
		id := name + string(rune('0'+len(args)))
		options = append(options, cel.Overload(id, args, result, of(f)), cel.MemberOverload("of"+id, args, result, of(f)))
	}
	return cel.Function(name, options...)
}

func unixSecond(args []ref.Val) ref.Val {
	t, ok := args[0].(types.Timestamp)
	if !ok {
		return types.MaybeNoSuchOverloadErr(args[0])
	}
	return types.Double(float64(t.UnixNano()) / float64(time.Second))
}

func sinceSecond(args []ref.Val) ref.Val {
	s, ok := args[0].(subject)
	if !ok {
		return types.MaybeNoSuchOverloadErr(args[0])
	}
	return types.Double(time.Since(s.created).Seconds())
}

func quantity(args []ref.Val) ref.Val {
	if n, ok := args[0].(types.Double); ok {
		return n // an amount already
	}
	n, ok := number(args[0].Value())
	if !ok {
		return types.NewErr("%v is not a quantity", args[0].Value())
	}
	return types.Double(n)
}

// used asks the meter of a subject.
func used(ask func(m Meter, resource string, pod *corev1.Pod, container string) float64) func([]ref.Val) ref.Val {
	return func(args []ref.Val) ref.Val {
		s, ok := args[0].(subject)
		if !ok {
			return types.MaybeNoSuchOverloadErr(args[0])
		}
		if s.meter == nil {
			return types.NewErr("what is used is not known here")
		}
		container := ""
		if len(args) > 2 {
			container = string(args[2].(types.String))
		}
		return types.Double(ask(s.meter, string(args[1].(types.String)), s.pod, container))
	}
}

func started(args []ref.Val) ref.Val {
	s, ok := args[0].(subject)
	if !ok || s.meter == nil {
		return types.NewErr("what is used is not known here")
	}
	return types.Double(s.meter.Started())
}

// startedHere replaces the argument of StartedContainersTotal, a node or its name, by the scope's node: the meter
// knows no other.
func startedHere(make cel.MacroExprFactory, _ ast.Expr, _ []ast.Expr) (ast.Expr, *cel.Error) {
	return make.NewCall("startedOn", make.NewIdent(Node)), nil
}
