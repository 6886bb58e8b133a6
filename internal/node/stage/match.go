package stage

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/itchyny/gojq"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Object is a pod or a node in the forms that stages read.
type Object struct {
	meta metav1.Object
	text []byte
	json any // for expressions
}

// Of returns an object in the forms that stages read.
func Of(o metav1.Object) (*Object, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	obj := &Object{meta: o, text: text}
	return obj, json.Unmarshal(text, &obj.json)
}

// Stages are stages of one kind.
type Stages []*Stage

// Choose returns the next stage of an object: of the stages that select it one at random, by their weights; nil if
// no stage selects it.
func (ss Stages) Choose(o *Object) *Stage {
	var fit []*Stage
	for _, s := range ss {
		if s.Selects(o) {
			fit = append(fit, s)
		}
	}
	if len(fit) < 2 {
		return first(fit)
	}
	var weighed []*Stage
	var weights []int64
	var total int64
	for _, s := range fit {
		if w, ok := s.weightFor(o); ok {
			weighed, weights = append(weighed, s), append(weights, max(0, w))
			total += max(0, w)
		}
	}
	switch {
	case len(weighed) == 0:
		return fit[rand.IntN(len(fit))]
	case total == 0:
		return weighed[rand.IntN(len(weighed))]
	}
	for at, i := rand.Int64N(total), 0; ; i++ {
		if at -= weights[i]; at < 0 {
			return weighed[i]
		}
	}
}

func first(list []*Stage) *Stage {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// Select reports whether one of the stages selects an object.
func (ss Stages) Select(o metav1.Object) (bool, error) {
	if len(ss) == 0 {
		return false, nil
	}
	object, err := Of(o)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(ss, func(s *Stage) bool { return s.Selects(object) }), nil
}

// Selects reports whether the stage is for an object in this state.
func (s *Stage) Selects(o *Object) bool {
	if !contains(o.meta.GetLabels(), s.labels) || !contains(o.meta.GetAnnotations(), s.annotations) {
		return false
	}
	for i := range s.where {
		if !s.where[i].holds(o) {
			return false
		}
	}
	return true
}

func contains(have, want map[string]string) bool {
	for k, v := range want {
		if got, ok := have[k]; !ok || got != v {
			return false
		}
	}
	return true
}

// weightFor returns the stage's weight for an object; ok is false if the object overrides it with an invalid one.
func (s *Stage) weightFor(o *Object) (w int64, ok bool) {
	if s.weightFrom == nil {
		return s.weight, true
	}
	found := query(s.weightFrom, o)
	if len(found) == 0 {
		return s.weight, true
	}
	switch v := found[0].(type) {
	case string:
		w, err := strconv.ParseInt(v, 0, 64)
		return w, err == nil
	case float64:
		return int64(v), true
	case int:
		return int64(v), true
	}
	return s.weight, true
}

// condition is a requirement, compiled.
type condition struct {
	key      *gojq.Code
	operator string
	values   []string
}

func (r *requirement) compile() (c condition, err error) {
	switch r.Operator {
	case "In", "NotIn":
		if len(r.Values) == 0 {
			return c, fmt.Errorf("%s needs values", r.Operator)
		}
	case "Exists", "DoesNotExist":
		if len(r.Values) > 0 {
			return c, fmt.Errorf("%s has no values", r.Operator)
		}
	default:
		return c, fmt.Errorf("operator %q: want In, NotIn, Exists or DoesNotExist", r.Operator)
	}
	c = condition{operator: r.Operator, values: r.Values}
	c.key, err = compile(r.Key)
	return c, err
}

func (c *condition) holds(o *Object) bool {
	found := query(c.key, o)
	in := slices.ContainsFunc(found, func(v any) bool {
		switch v := v.(type) {
		case string, bool, int:
			return slices.Contains(c.values, fmt.Sprint(v))
		case float64:
			return slices.Contains(c.values, strconv.FormatFloat(v, 'f', -1, 64))
		}
		return false
	})
	switch c.operator {
	case "In":
		return in
	case "NotIn":
		return !in
	case "Exists":
		return len(found) > 0
	}
	return len(found) == 0
}

func compile(expression string) (*gojq.Code, error) {
	q, err := gojq.Parse(expression)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", expression, err)
	}
	return gojq.Compile(q)
}

func (f *from) compile() (*gojq.Code, error) {
	switch {
	case f == nil:
		return nil, nil
	case f.JQ != nil:
		return compile(f.JQ.Expression)
	}
	return compile(f.ExpressionFrom)
}

// query returns the values of an expression in an object, without null; empty if it fails.
func query(code *gojq.Code, o *Object) (found []any) {
	for it := code.Run(o.json); ; {
		v, ok := it.Next()
		if !ok {
			return found
		}
		if _, failed := v.(error); failed {
			return nil
		}
		if v != nil {
			found = append(found, v)
		}
	}
}
