package podspec

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/internal/resource/check"
)

func (v *validator) affinity(p *check.Path) {
	a := v.spec.Affinity
	if a == nil {
		return
	}
	const required, preferred = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
	if n := a.NodeAffinity; n != nil {
		at := p.Child("nodeAffinity")
		if n.RequiredDuringSchedulingIgnoredDuringExecution != nil {
			NodeSelector(v.Errors, at.Child(required), n.RequiredDuringSchedulingIgnoredDuringExecution)
		}
		for i, t := range n.PreferredDuringSchedulingIgnoredDuringExecution {
			at := at.Child(preferred).Index(i)
			v.weight(at, t.Weight)
			nodeSelectorTerm(v.Errors, at.Child("preference"), t.Preference, false)
		}
	}
	terms := func(at *check.Path, must []corev1.PodAffinityTerm, may []corev1.WeightedPodAffinityTerm) {
		for i := range must {
			v.podAffinityTerm(at.Child(required).Index(i), &must[i])
		}
		for i := range may {
			at := at.Child(preferred).Index(i)
			v.weight(at, may[i].Weight)
			v.podAffinityTerm(at.Child("podAffinityTerm"), &may[i].PodAffinityTerm)
		}
	}
	if a.PodAffinity != nil {
		terms(p.Child("podAffinity"), a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a.PodAntiAffinity != nil {
		terms(p.Child("podAntiAffinity"), a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

func (v *validator) weight(p *check.Path, n int32) {
	if n < 1 || n > 100 {
		v.Invalid(p.Child("weight"), n, "must be in the range 1-100")
	}
}

func (v *validator) podAffinityTerm(p *check.Path, t *corev1.PodAffinityTerm) {
	v.Selector(p.Child("labelSelector"), t.LabelSelector)
	v.Selector(p.Child("namespaceSelector"), t.NamespaceSelector)
	for _, name := range t.Namespaces {
		v.Each(p.Child("namespace"), name, apivalidation.ValidateNamespaceName(name, false))
	}
	v.matchKeys(p, t.MatchLabelKeys, t.MismatchLabelKeys, t.LabelSelector)
	if t.TopologyKey == "" {
		v.Required(p.Child("topologyKey"), "can not be empty")
	}
	v.LabelKey(p.Child("topologyKey"), t.TopologyKey)
}

// NodeSelector reports the errors of a node selector.
func NodeSelector(f *check.Errors, p *check.Path, s *corev1.NodeSelector) {
	p = p.Child("nodeSelectorTerms")
	if len(s.NodeSelectorTerms) == 0 {
		f.Required(p, "must have at least one node selector term")
		return
	}
	for i, t := range s.NodeSelectorTerms {
		nodeSelectorTerm(f, p.Index(i), t, true)
	}
}

func nodeSelectorTerm(f *check.Errors, p *check.Path, t corev1.NodeSelectorTerm, wantValues bool) {
	for i, r := range t.MatchExpressions {
		nodeSelectorRequirement(f, p.Child("matchExpressions").Index(i), r, wantValues)
	}
	for i, r := range t.MatchFields {
		at := p.Child("matchFields").Index(i)
		switch r.Operator {
		case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
			if len(r.Values) != 1 {
				f.Required(at.Child("values"), "must be only one value when `operator` is 'In' or 'NotIn' for node field selector")
			}
		default:
			f.Invalid(at.Child("operator"), r.Operator, "not a valid selector operator")
		}
		if r.Key != metav1.ObjectNameField {
			f.Invalid(at.Child("key"), r.Key, "not a valid field selector key")
			continue
		}
		for k, value := range r.Values {
			f.Subdomain(at.Child("values").Index(k), value)
		}
	}
}

func nodeSelectorRequirement(f *check.Errors, p *check.Path, r corev1.NodeSelectorRequirement, wantValues bool) {
	values := p.Child("values")
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(r.Values) == 0 {
			f.Required(values, "must be specified when `operator` is 'In' or 'NotIn'")
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if len(r.Values) > 0 {
			f.Forbidden(values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if len(r.Values) != 1 {
			f.Required(values, "must be specified single value when `operator` is 'Lt' or 'Gt'")
		}
	default:
		f.Invalid(p.Child("operator"), r.Operator, "not a valid selector operator")
	}
	f.LabelKey(p.Child("key"), r.Key)
	if wantValues {
		for i, value := range r.Values {
			f.Each(values.Index(i), value, validation.IsValidLabelValue(value))
		}
	}
}
