package gates

import (
	_ "embed"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-base/featuregate"
)

// gatesText has a line for each feature gate of kube-apiserver: its name; for each version of Kubernetes in which it
// changed, its default and stage, whether it is locked to its default, and, after min=, the least --min-compatibility-version
// with that default; and, after needs=, the gates without which it cannot be on. The facts are those of
// k8s.io/kubernetes v1.37.2, and of v1.36.3 for the gates that 1.37 no longer has.
//
//go:embed gates.txt
var gatesText string

// stages are the stages of a gate, by the words for them.
var stages = map[string]featuregate.FeatureSpec{
	"alpha":      {PreRelease: featuregate.Alpha},
	"beta":       {PreRelease: featuregate.Beta},
	"ga":         {PreRelease: featuregate.GA},
	"deprecated": {PreRelease: featuregate.Deprecated},
}

// New returns the feature gates of kube-apiserver, with their defaults in a version of Kubernetes.
func New(v *version.Version) (featuregate.MutableVersionedFeatureGate, error) {
	specs := map[featuregate.Feature]featuregate.VersionedSpecs{}
	needs := map[featuregate.Feature][]featuregate.Feature{}
	for line := range strings.Lines(gatesText) {
		words := strings.Fields(line)
		name := featuregate.Feature(words[0])
		for _, word := range words[1:] {
			if list, ok := strings.CutPrefix(word, "needs="); ok {
				for need := range strings.SplitSeq(list, ",") {
					needs[name] = append(needs[name], featuregate.Feature(need))
				}
				continue
			}
			spec, err := parseSpec(word)
			if err != nil {
				return nil, fmt.Errorf("gate %s: %w", name, err)
			}
			specs[name] = append(specs[name], spec)
		}
	}
	all := featuregate.NewVersionedFeatureGate(v)
	if err := all.AddVersioned(specs); err != nil {
		return nil, err
	}
	return all, all.AddDependencies(needs)
}

// parseSpec parses a change of a gate, such as 1.36:on:ga:locked.
func parseSpec(text string) (featuregate.FeatureSpec, error) {
	parts := strings.Split(text, ":")
	if len(parts) < 3 {
		return featuregate.FeatureSpec{}, fmt.Errorf("%q is not a version, a default and a stage", text)
	}
	spec, ok := stages[parts[2]]
	if !ok {
		return spec, fmt.Errorf("%q is not a stage", parts[2])
	}
	v, err := version.ParseMajorMinor(parts[0])
	if err != nil {
		return spec, err
	}
	spec.Version, spec.Default = v, parts[1] == "on"
	for _, more := range parts[3:] {
		if least, ok := strings.CutPrefix(more, "min="); ok {
			if spec.MinCompatibilityVersion, err = version.ParseMajorMinor(least); err != nil {
				return spec, err
			}
		}
		spec.LockToDefault = spec.LockToDefault || more == "locked"
	}
	return spec, nil
}
