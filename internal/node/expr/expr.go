package expr

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// limit is the cost limit of an expression, in CEL's units; useful expressions stay far below it.
const limit = 1 << 20

// environment has the functions and all variables. Making it takes a while, so it is made with the first
// expression.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	options := functions()
	for _, name := range []string{Node, Pod, Container} {
		options = append(options, cel.Variable(name, cel.DynType))
	}
	return cel.NewEnv(options...)
})

// Program is an expression that has been compiled.
type Program struct{ program cel.Program }

// Compile compiles an expression that may use the variables.
func Compile(text string, variables ...string) (*Program, error) {
	env, err := environment()
	if err != nil {
		return nil, err
	}
	ast, issues := env.Compile(text)
	if err := issues.Err(); err != nil {
		return nil, err
	}
	for _, r := range ast.NativeRep().ReferenceMap() {
		if all := []string{Node, Pod, Container}; slices.Contains(all, r.Name) && !slices.Contains(variables, r.Name) {
			return nil, fmt.Errorf("there is no %s here", r.Name)
		}
	}
	program, err := env.Program(ast, cel.CostLimit(limit))
	if err != nil {
		return nil, err
	}
	return &Program{program}, nil
}

func (p *Program) eval(s Scope) (ref.Val, error) {
	v, _, err := p.program.Eval(s.vars)
	return v, err
}

// Number returns the value of an expression that yields a number, or a duration, in seconds.
func (p *Program) Number(s Scope) (float64, error) {
	v, err := p.eval(s)
	if err != nil {
		return 0, err
	}
	switch n := v.Value().(type) {
	case float64:
		return n, nil
	case int64:
		return float64(n), nil
	case uint64:
		return float64(n), nil
	case time.Duration:
		return n.Seconds(), nil
	}
	return 0, fmt.Errorf("the value is a %s, not a number", v.Type().TypeName())
}

// Text returns the value of an expression that yields a string or a number.
func (p *Program) Text(s Scope) (string, error) {
	v, err := p.eval(s)
	if err != nil {
		return "", err
	}
	if text, ok := v.ConvertToType(types.StringType).(types.String); ok {
		return string(text), nil
	}
	return "", fmt.Errorf("the value is a %s, not a text", v.Type().TypeName())
}
