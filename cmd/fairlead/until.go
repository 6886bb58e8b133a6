package main

import (
	"bytes"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/jsonpath"
)

// until is a condition of an object, as kubectl wait has them.
type until struct {
	text string
	// met reports whether the object, nil if it does not exist, meets the condition.
	met func(object map[string]any) (bool, error)
}

func (u until) String() string { return u.text }

// parseUntil parses a condition.
func parseUntil(s string) (until, error) {
	what, rest, valued := strings.Cut(s, "=")
	switch {
	case s == "delete":
		return until{s, func(o map[string]any) (bool, error) { return o == nil, nil }}, nil
	case s == "create":
		return until{s, func(o map[string]any) (bool, error) { return o != nil, nil }}, nil
	case what == "condition" && rest != "":
		name, status, given := strings.Cut(rest, "=")
		if !given {
			status = "True"
		}
		if name == "" || status == "" {
			break
		}
		return until{s, func(o map[string]any) (bool, error) { return hasCondition(o, name, status), nil }}, nil
	case what == "jsonpath" && valued:
		return parsePath(s, rest)
	}
	return until{}, fmt.Errorf("--until=%s: want create, delete, condition=TYPE[=STATUS] or jsonpath=EXPRESSION[=VALUE]", s)
}

func parsePath(s, rest string) (until, error) {
	end := strings.LastIndex(rest, "}")
	if !strings.HasPrefix(rest, "{") || end < 0 {
		return until{}, fmt.Errorf("--until=%s: want an expression in braces, such as jsonpath={.status.phase}=Running", s)
	}
	expression, tail := rest[:end+1], rest[end+1:]
	value, valued := strings.CutPrefix(tail, "=")
	if tail != "" && (!valued || value == "") {
		return until{}, fmt.Errorf("--until=%s: want a value after the expression", s)
	}
	path := jsonpath.New("until").AllowMissingKeys(true)
	if err := path.Parse(expression); err != nil {
		return until{}, fmt.Errorf("--until=%s: %w", s, err)
	}
	return until{s, func(o map[string]any) (bool, error) {
		if o == nil {
			return false, nil
		}
		results, err := path.FindResults(o)
		if err != nil {
			return false, fmt.Errorf("%s: %w", expression, err)
		}
		for _, result := range results {
			for i, v := range result {
				var text bytes.Buffer
				if err := path.PrintResults(&text, result[i:i+1]); err != nil {
					return false, err
				}
				if v.IsValid() && (!valued || text.String() == value) {
					return true, nil
				}
			}
		}
		return false, nil
	}}, nil
}

// hasCondition reports whether the object's status has a condition, which is not of an older generation.
func hasCondition(object map[string]any, name, status string) bool {
	generation, _, _ := unstructured.NestedFieldNoCopy(object, "metadata", "generation")
	list, _, _ := unstructured.NestedSlice(object, "status", "conditions")
	for _, one := range list {
		c, ok := one.(map[string]any)
		if !ok || !strings.EqualFold(fmt.Sprint(c["type"]), name) {
			continue
		}
		observed, given := c["observedGeneration"].(float64)
		if of, ok := generation.(float64); given && ok && observed < of {
			return false
		}
		return strings.EqualFold(fmt.Sprint(c["status"]), status)
	}
	return false
}
