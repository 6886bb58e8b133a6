package dynamicresources

import (
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/ext"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"

	"fairlead.dev/internal/resource/check"
)

// selectors requires device selectors that compile within the cost limit. Stored ones are compiled in the wider
// environment for stored expressions.
func selectors(f *check.Errors, p *check.Path, list []resourcev1.DeviceSelector, stored bool) {
	validateList(f, p, list, resourcev1.DeviceSelectorsMaxSize, func(p *check.Path, s *resourcev1.DeviceSelector) {
		p = p.Child("cel")
		if s.CEL == nil {
			f.Required(p, "")
			return
		}
		expression(f, p.Child("expression"), s.CEL.Expression, stored)
	})
}

func expression(f *check.Errors, p *check.Path, text string, stored bool) {
	if limit := resourcev1.CELSelectorExpressionMaxLength; len(text) > limit {
		f.Add(field.TooLong(p.Field(), "", limit))
		return
	}
	d := devices()
	env := d.fresh
	if stored {
		env = d.stored
	}
	ast, issues := env.Compile(text)
	if issues != nil {
		f.Invalid(p, text, "compilation failed: "+issues.String())
		return
	}
	if out := ast.OutputType(); out != cel.BoolType && out != cel.AnyType {
		f.Invalid(p, text, fmt.Sprintf("must evaluate to %v or the unknown type, not %v", cel.BoolType, out))
		return
	}
	cost, err := env.EstimateCost(ast, &library.CostEstimator{SizeEstimator: d})
	if err != nil {
		f.Add(field.InternalError(p.Field(), fmt.Errorf("cost estimation failed: %w", err)))
	} else if cost.Max > resourcev1.CELSelectorExpressionMaxCost {
		f.Forbidden(p, "too complex, exceeds cost limit")
	}
}

// language is CEL for device selectors, with the variable "device". It is built with the first selector, and is
// safe for concurrent use.
type language struct {
	fresh, stored *cel.Env
	device, value *apiservercel.DeclType
}

var devices = sync.OnceValue(newLanguage)

func newLanguage() *language {
	sized := func(t *apiservercel.DeclType, limit int64) *apiservercel.DeclType {
		out := *t
		out.MaxElements = limit
		return &out
	}
	const entries = resourcev1.ResourceSliceMaxAttributesAndCapacitiesPerDevice
	domain, id := sized(apiservercel.StringType, resourcev1.DeviceMaxDomainLength), sized(apiservercel.StringType, resourcev1.DeviceMaxIDLength)
	byDomain := func(value *apiservercel.DeclType) *apiservercel.DeclType {
		return apiservercel.NewMapType(domain, apiservercel.NewMapType(id, value, entries), entries)
	}
	l := &language{value: sized(apiservercel.AnyType, resourcev1.DeviceAttributeMaxValueLength)}
	fields := map[string]*apiservercel.DeclField{}
	for name, t := range map[string]*apiservercel.DeclType{
		"driver":                   sized(apiservercel.StringType, resourcev1.DriverNameMaxLength),
		"allowMultipleAllocations": sized(apiservercel.BoolType, 1),
		"attributes":               byDomain(l.value),
		"capacity":                 byDomain(apiservercel.QuantityDeclType),
	} {
		fields[name] = apiservercel.NewDeclField(name, t, true, nil, nil)
	}
	l.device = apiservercel.NewObjectType("kubernetes.DRADevice", fields)
	set, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 34),
		EnvOptions:        []cel.EnvOption{ext.Bindings(ext.BindingsVersion(0)), cel.Variable("device", l.device.CelType())},
		DeclTypes:         []*apiservercel.DeclType{l.device},
	})
	if err != nil {
		panic(err) // the declarations above are at fault
	}
	l.fresh, l.stored = set.NewExpressionsEnv(), set.StoredExpressionsEnv()
	return l
}

// EstimateSize estimates the size of a part of a device from its declared type.
func (l *language) EstimateSize(element checker.AstNode) *checker.SizeEstimate {
	path := element.Path()
	if len(path) == 0 || path[0] != "device" {
		return nil
	}
	t := l.device
	for _, name := range path[1:] {
		next := t.ElemType
		switch name {
		case "@items", "@values":
		case "@keys":
			next = t.KeyType
		default:
			if f, ok := t.Fields[name]; ok {
				next = f.Type
			} else if t.ElemType != l.value {
				return nil
			}
		}
		if next == nil {
			return nil
		}
		t = next
	}
	return &checker.SizeEstimate{Min: 0, Max: uint64(t.MaxElements)}
}

// EstimateCallCost leaves functions to the libraries that have them.
func (*language) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}
