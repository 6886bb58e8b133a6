package policy

import (
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/admission/expr"
)

// Checked returns the rows with extended validation of admission's own kinds: their CEL expressions must compile.
// Expressions of the old object are compiled for the wider stored environment.
func Checked(rows []*resource.Resource) []*resource.Resource {
	rows = slices.Clone(rows)
	for i, r := range rows {
		if r.Group != admissionv1.GroupName || strings.HasSuffix(r.Kind, "Binding") {
			continue
		}
		row := *r
		validate, update := row.Strategy.Validate, row.Strategy.ValidateUpdate
		row.Strategy.Validate = func(obj runtime.Object) field.ErrorList {
			return append(validate(obj), check(obj, nil)...)
		}
		row.Strategy.ValidateUpdate = func(obj, old runtime.Object) field.ErrorList {
			return append(update(obj, old), check(obj, old)...)
		}
		rows[i] = &row
	}
	return rows
}

// checker collects the errors in the expressions of one object.
type checker struct {
	errs field.ErrorList
	kept map[string]bool // the expressions of the old object
}

func check(obj, old runtime.Object) field.ErrorList {
	c := &checker{kept: map[string]bool{}}
	for e := range expressions(old) {
		c.kept[e.text] = true
	}
	var own map[expr.Mode]*expr.Scope
	for e := range expressions(obj) {
		if strings.TrimSpace(e.text) == "" {
			continue // reported already
		}
		mode := expr.New
		if c.kept[e.text] {
			mode = expr.Stored
		}
		scope := expr.Plain(mode)
		if e.variables {
			if own == nil {
				own = map[expr.Mode]*expr.Scope{}
				for _, m := range []expr.Mode{expr.New, expr.Stored} {
					s, err := expr.WithVariables(m)
					if err != nil {
						return append(c.errs, field.InternalError(e.at, err))
					}
					own[m] = s
				}
			}
			scope = own[mode]
		}
		var p *expr.Program
		if e.variable == "" {
			p = scope.Compile(e.text, e.options, e.want...)
		} else {
			for m, s := range own {
				if q := s.Define(e.variable, e.text, e.options); m == mode {
					p = q
				}
			}
		}
		if err := p.Fault(e.at, e.text); err != nil {
			c.errs = append(c.errs, err)
		}
	}
	return c.errs
}
