package kubeapiserver

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// gatesText has a line for each feature gate of kube-apiserver: its name, and, for each version of Kubernetes in which it
// changed, its default and stage. The facts are those of k8s.io/kubernetes v1.36.3 (pkg/features) and of
// k8s.io/apiserver, apiextensions-apiserver and client-go v0.37.2.
//
//go:embed gates.txt
var gatesText string

// cborGate is the only gate that the server can switch.
const cborGate = "CBORServingAndStorage"

// gateDefaults returns whether each known gate is on in this version of Kubernetes.
var gateDefaults = sync.OnceValue(func() map[string]bool {
	on := map[string]bool{}
	for line := range strings.Lines(gatesText) {
		words := strings.Fields(line)
		latest := words[len(words)-1] // 1.36:on:beta
		on[words[0]] = strings.Split(latest, ":")[1] == "on"
	}
	return on
})

// gates is the value of --feature-gates.
type gates map[string]bool

// Set implements pflag.Value: it adds the gates of the text to those of earlier flags.
func (g *gates) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			return fmt.Errorf("missing bool value for feature gate option %s", part)
		}
		if component, gate, ok := strings.Cut(name, ":"); ok {
			if component != "kube" {
				return fmt.Errorf("component not registered: %s", component)
			}
			name = gate
		}
		on, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("invalid value of %s=%s", name, value)
		}
		if *g == nil {
			*g = gates{}
		}
		(*g)[strings.TrimSpace(name)] = on
	}
	return nil
}

// String implements pflag.Value, also for its zero value.
func (g *gates) String() string {
	if g == nil {
		return ""
	}
	var list []string
	for name, on := range *g {
		list = append(list, fmt.Sprintf("%s=%t", name, on))
	}
	slices.Sort(list)
	return strings.Join(list, ",")
}

// Type implements pflag.Value.
func (*gates) Type() string { return "name=bool" }

// apply returns whether the server speaks CBOR. A gate other than that one cannot be switched: it must have its default.
func (g gates) apply() (cbor bool, err error) {
	defaults := gateDefaults()
	for name, on := range g {
		was, known := defaults[name]
		switch {
		case !known:
			return false, fmt.Errorf("--feature-gates: unrecognized feature gate: %s", name)
		case name == cborGate:
			cbor = on
		case was != on:
			return false, fmt.Errorf("--feature-gates: %s=%t: Fairlead serves Kubernetes %s with this gate at its default", name, on, kubernetesMinor)
		}
	}
	return cbor, nil
}
