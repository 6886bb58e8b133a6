package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// gates is the value of --feature-gates: the gates that can be opened, by the
// names that kube-apiserver has for them.
type gates map[string]*bool

// Set opens and closes gates: "A=true,B=false".
func (g gates) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			return fmt.Errorf("missing bool value for %s", name)
		}
		gate := g[strings.TrimSpace(name)]
		if gate == nil {
			return fmt.Errorf("unrecognized feature gate: %s", name)
		}
		open, err := strconv.ParseBool(strings.TrimSpace(value))
		if err != nil {
			return fmt.Errorf("invalid value of %s=%s, err: %v", name, value, err)
		}
		*gate = open
	}
	return nil
}

// String lists the open gates.
func (g gates) String() string {
	var open []string
	for name, gate := range g {
		if *gate {
			open = append(open, name+"=true")
		}
	}
	slices.Sort(open)
	return strings.Join(open, ",")
}

// Type is the value's name in the help text.
func (gates) Type() string { return "name=bool" }
