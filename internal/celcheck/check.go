// Package celcheck has the CEL types of the variables of admission expressions, and checks such expressions against
// the schemas of the objects they will see.
//
// It is shared by the server, which compiles and runs the expressions, and by the controller that checks them. CEL
// is initialized on first use.
//
// # Concurrency
//
// A Checker belongs to one goroutine.
package celcheck

import (
	"sync"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
	"k8s.io/apiserver/pkg/cel/openapi"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Variable is a variable defined by a policy.
type Variable struct{ Name, Expression string }

// Checker type-checks expressions against the schemas of their objects. Admission itself runs expressions on
// untyped objects, so errors found here are only warnings.
type Checker struct {
	env       func() (*cel.Env, error)
	variables *apiservercel.DeclType
}

// NewChecker returns a checker in which object and oldObject have the type of a schema without references, and so
// has params, which exists only if hasParams is set. A nil schema is any type. variables are defined in order; one
// that does not compile is of any type.
func NewChecker(object *spec.Schema, hasParams bool, params *spec.Schema, variables []Variable) (*Checker, error) {
	c := &Checker{variables: apiservercel.NewObjectType("kubernetes.variables", map[string]*apiservercel.DeclField{})}
	request, namespace := RequestType(), NamespaceType()
	types := []*apiservercel.DeclType{request, namespace, c.variables}
	vars := []cel.EnvOption{
		cel.Variable("request", request.CelType()),
		cel.Variable("namespaceObject", namespace.CelType()),
		cel.Variable("variables", c.variables.CelType()),
		cel.Variable("authorizer", library.AuthorizerType),
	}
	declare := func(s *spec.Schema, typeName string, names ...string) {
		t := cel.DynType
		if d := schemaType(s, typeName); d != nil {
			types, t = append(types, d), d.CelType()
		}
		for _, n := range names {
			vars = append(vars, cel.Variable(n, t))
		}
	}
	// The types of members are named after the type of the whole, whose name must therefore not be a variable.
	declare(object, "kubernetes.Object", "object", "oldObject")
	if hasParams {
		declare(params, "kubernetes.Params", "params")
	}
	set, err := Base().Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0), EnvOptions: vars, DeclTypes: types,
	})
	if err != nil {
		return nil, err
	}
	c.env = sync.OnceValues(func() (*cel.Env, error) { return set.Env(environment.StoredExpressions) })
	for _, v := range variables {
		t, _ := c.compile(v.Expression)
		c.variables.Fields[v.Name] = apiservercel.NewDeclField(v.Name, DeclType(t), true, nil, nil)
	}
	return c, nil
}

func schemaType(s *spec.Schema, name string) *apiservercel.DeclType {
	if s == nil {
		return nil
	}
	d := common.SchemaDeclType(&openapi.Schema{Schema: s}, true)
	if d == nil {
		return nil
	}
	return d.MaybeAssignTypeName(name)
}

// Check returns CEL's compile error for an expression, nil if it is valid.
func (c *Checker) Check(expression string) error {
	_, err := c.compile(expression)
	return err
}

func (c *Checker) compile(expression string) (*cel.Type, error) {
	env, err := c.env()
	if err != nil {
		return nil, err
	}
	ast, issues := env.Compile(expression)
	if issues != nil {
		return nil, issues.Err()
	}
	return ast.OutputType(), nil
}
