package podspec

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/check"
)

func (v *validator) schedulingGates(p *check.Path) {
	seen := map[string]bool{}
	for i, g := range v.spec.SchedulingGates {
		v.Qualified(p.Index(i), g.Name)
		if seen[g.Name] {
			v.Duplicate(p.Index(i), g.Name)
		}
		seen[g.Name] = true
	}
}

// Tolerations reports the faults of tolerations.
func Tolerations(f *check.Errors, p *check.Path, list []corev1.Toleration) {
	for i, t := range list {
		at := p.Index(i)
		if t.Key != "" {
			f.LabelKey(at.Child("key"), t.Key)
		} else if t.Operator != corev1.TolerationOpExists {
			f.Invalid(at.Child("operator"), t.Operator, "operator must be Exists when `key` is empty, which means \"match all values and all keys\"")
		}
		if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
			f.Invalid(at.Child("effect"), t.Effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
		}
		switch t.Operator {
		case corev1.TolerationOpEqual, "":
			if msgs := validation.IsValidLabelValue(t.Value); len(msgs) > 0 {
				f.Invalid(at.Child("operator"), t.Value, strings.Join(msgs, ";"))
			}
		case corev1.TolerationOpExists:
			if t.Value != "" {
				f.Invalid(at.Child("operator"), t.Value, "value must be empty when `operator` is 'Exists'")
			}
		case corev1.TolerationOpLt, corev1.TolerationOpGt: // known, but disabled
			f.Add(field.NotSupported(at.Child("operator").Field(), t.Operator,
				[]corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists, corev1.TolerationOpLt, corev1.TolerationOpGt}))
		default:
			check.Known(f, at.Child("operator"), t.Operator, corev1.TolerationOpEqual, corev1.TolerationOpExists)
		}
		if t.Effect != "" {
			TaintEffect(f, at.Child("effect"), t.Effect)
		}
	}
}

// TaintEffect requires a valid taint effect.
func TaintEffect(f *check.Errors, p *check.Path, e corev1.TaintEffect) {
	check.OneOf(f, p, e, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)
}

func (v *validator) spread(p *check.Path) {
	list := v.spec.TopologySpreadConstraints
	for i, c := range list {
		at := p.Index(i)
		v.Positive(at.Child("maxSkew"), int64(c.MaxSkew))
		if c.TopologyKey == "" {
			v.Required(at.Child("topologyKey"), "can not be empty")
		}
		check.Known(v.Errors, at.Child("whenUnsatisfiable"), c.WhenUnsatisfiable, corev1.DoNotSchedule, corev1.ScheduleAnyway)
		for _, other := range list[i+1:] {
			if c.TopologyKey == other.TopologyKey && c.WhenUnsatisfiable == other.WhenUnsatisfiable {
				v.Duplicate(at.Child("{topologyKey, whenUnsatisfiable}"), fmt.Sprintf("{%v, %v}", c.TopologyKey, c.WhenUnsatisfiable))
				break
			}
		}
		if n := c.MinDomains; n != nil {
			v.Positive(at.Child("minDomains"), int64(*n))
			if c.WhenUnsatisfiable != corev1.DoNotSchedule {
				v.Invalid(at.Child("minDomains"), n,
					fmt.Sprintf("can only use minDomains if whenUnsatisfiable=%s, not %s", corev1.DoNotSchedule, c.WhenUnsatisfiable))
			}
		}
		v.inclusion(at.Child("nodeAffinityPolicy"), c.NodeAffinityPolicy)
		v.inclusion(at.Child("nodeTaintsPolicy"), c.NodeTaintsPolicy)
		v.matchKeys(at, c.MatchLabelKeys, nil, c.LabelSelector)
		v.Selector(at.Child("labelSelector"), c.LabelSelector)
	}
}

func (v *validator) inclusion(p *check.Path, policy *corev1.NodeInclusionPolicy) {
	if policy != nil {
		check.Known(v.Errors, p, *policy, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)
	}
}

// matchKeys validates the label keys that are merged into a selector. A key that occurs twice in the selector was
// merged and had been there before.
func (v *validator) matchKeys(p *check.Path, match, mismatch []string, s *metav1.LabelSelector) {
	keys := func(p *check.Path, list []string) {
		if len(list) > 0 && s == nil {
			v.Forbidden(p, "must not be specified when labelSelector is not set")
			return
		}
		for i, key := range list {
			v.LabelKey(p.Index(i), key)
		}
	}
	keys(p.Child("matchLabelKeys"), match)
	keys(p.Child("mismatchLabelKeys"), mismatch)
	if s != nil {
		named := map[string]bool{}
		for key := range s.MatchLabels {
			named[key] = true
		}
		for _, e := range s.MatchExpressions {
			if i := slices.Index(match, e.Key); i >= 0 && named[e.Key] {
				v.Invalid(p.Index(i), e.Key, "exists in both matchLabelKeys and labelSelector")
			}
			named[e.Key] = true
		}
	}
	for i, key := range match {
		if slices.Contains(mismatch, key) {
			v.Invalid(p.Child("matchLabelKeys").Index(i), key, "exists in both matchLabelKeys and mismatchLabelKeys")
		}
	}
}
