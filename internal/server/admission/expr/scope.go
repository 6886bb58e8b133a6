package expr

import (
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
	"k8s.io/apiserver/pkg/cel/mutation"

	"fairlead.dev/internal/celcheck"
)

// Mode selects the CEL environment: the one for new expressions, or the wider one for expressions that were
// accepted before.
type Mode = environment.Type

// The modes.
const (
	New    = environment.NewExpressions
	Stored = environment.StoredExpressions
)

// Options add names that only some expressions have.
type Options struct{ Params, Authorizer, Patches bool }

// Scope is the set of names that expressions can use; see the package comment.
type Scope struct {
	mode      Mode
	base      *environment.EnvSet
	variables *apiservercel.DeclType // nil if variables cannot be defined
	defined   []definition

	mu   sync.Mutex
	envs map[Options]*cel.Env
}

type definition struct {
	name string
	*Program
}

var plain = sync.OnceValue(func() map[Mode]*Scope {
	all := map[Mode]*Scope{}
	for _, m := range []Mode{New, Stored} {
		all[m] = &Scope{mode: m, base: celcheck.Base(), envs: map[Options]*cel.Env{}}
	}
	return all
})

// Plain returns the scope of expressions without variables.
func Plain(m Mode) *Scope { return plain()[m] }

// WithVariables returns a new scope in which variables can be defined.
func WithVariables(m Mode) (*Scope, error) {
	s := &Scope{mode: m, envs: map[Options]*cel.Env{}}
	s.variables = apiservercel.NewObjectType("kubernetes.variables", map[string]*apiservercel.DeclField{})
	var err error
	s.base, err = celcheck.Base().Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        []cel.EnvOption{cel.Variable("variables", s.variables.CelType())},
		DeclTypes:         []*apiservercel.DeclType{s.variables},
	})
	return s, err
}

// Define compiles a variable, which later expressions see as variables.name. If it does not compile, expressions
// that use it fail.
func (s *Scope) Define(name, expression string, o Options) *Program {
	p := s.Compile(expression, o, cel.AnyType)
	s.variables.Fields[name] = apiservercel.NewDeclField(name, celcheck.DeclType(p.Type), true, nil, nil)
	s.defined = append(s.defined, definition{name, p})
	return p
}

func (s *Scope) env(o Options) (*cel.Env, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.envs[o]; e != nil {
		return e, nil
	}
	request, namespace := celcheck.RequestType(), celcheck.NamespaceType()
	vars := []cel.EnvOption{
		cel.Variable("object", cel.DynType),
		cel.Variable("oldObject", cel.DynType),
		cel.Variable("namespaceObject", namespace.CelType()),
		cel.Variable("request", request.CelType()),
	}
	if o.Params {
		vars = append(vars, cel.Variable("params", cel.DynType))
	}
	if o.Authorizer {
		vars = append(vars, cel.Variable("authorizer", library.AuthorizerType),
			cel.Variable("authorizer.requestResource", library.ResourceCheckType))
	}
	set, err := s.base.Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        vars,
		DeclTypes:         []*apiservercel.DeclType{namespace, request},
	}, environment.StrictCostOpt)
	if err == nil && o.Patches { // after the declared types, which it consults first
		set, err = set.Extend(environment.VersionedOptions{IntroducedVersion: version.MajorMinor(1, 0), EnvOptions: []cel.EnvOption{
			common.ResolverEnvOption(&mutation.DynamicTypeResolver{}), environment.UnversionedLib(library.JSONPatch),
		}})
	}
	if err != nil {
		return nil, err
	}
	e, err := set.Env(s.mode)
	if err == nil {
		s.envs[o] = e
	}
	return e, err
}

// Program is a compiled expression, or the error of compiling it.
type Program struct {
	Expression string
	Type       *cel.Type // nil with an Err
	Err        *apiservercel.Error
	run        cel.Program
}

// Compile compiles an expression that must have one of the types.
func (s *Scope) Compile(expression string, o Options, want ...*cel.Type) *Program {
	p := &Program{Expression: expression}
	fail := func(t apiservercel.ErrorType, format string, args ...any) *Program {
		p.Err = &apiservercel.Error{Type: t, Detail: fmt.Sprintf(format, args...)}
		return p
	}
	env, err := s.env(o)
	if err != nil {
		return fail(apiservercel.ErrorTypeInternal, "unexpected error loading CEL environment: %v", err)
	}
	ast, issues := env.Compile(expression)
	if issues != nil {
		return fail(apiservercel.ErrorTypeInvalid, "compilation failed: %s", issues)
	}
	if !oneOf(ast.OutputType(), want) {
		if len(want) == 1 {
			return fail(apiservercel.ErrorTypeInvalid, "must evaluate to %v but got %v", want[0], ast.OutputType())
		}
		return fail(apiservercel.ErrorTypeInvalid, "must evaluate to one of %v but got %v", want, ast.OutputType())
	}
	p.run, err = env.Program(ast, cel.InterruptCheckFrequency(celconfig.CheckFrequency))
	if err != nil {
		return fail(apiservercel.ErrorTypeInternal, "program instantiation failed: %s", err)
	}
	p.Type = ast.OutputType()
	return p
}

func oneOf(got *cel.Type, want []*cel.Type) bool {
	for _, w := range want {
		if got.IsExactType(w) || cel.AnyType.IsExactType(w) {
			return true
		}
	}
	return false
}

// Fault returns a compile error as an error of the expression's field, or nil.
func (p *Program) Fault(at *field.Path, text string) *field.Error {
	switch {
	case p.Err == nil:
		return nil
	case p.Err.Type == apiservercel.ErrorTypeRequired:
		return field.Required(at, p.Err.Detail)
	case p.Err.Type == apiservercel.ErrorTypeInvalid:
		return field.Invalid(at, text, p.Err.Detail)
	}
	return field.InternalError(at, p.Err)
}

// Type is the type of an expression.
type Type = cel.Type

// The result types of admission expressions.
var (
	Bool   = cel.BoolType
	String = cel.StringType
	Null   = cel.NullType
)
