package podspec

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/internal/resource/check"
)

// movedLabels are node labels with a newer name.
var movedLabels = map[string]string{
	"beta.kubernetes.io/arch":                  `deprecated since v1.14; use "kubernetes.io/arch" instead`,
	"beta.kubernetes.io/os":                    `deprecated since v1.14; use "kubernetes.io/os" instead`,
	"failure-domain.beta.kubernetes.io/region": `deprecated since v1.17; use "topology.kubernetes.io/region" instead`,
	"failure-domain.beta.kubernetes.io/zone":   `deprecated since v1.17; use "topology.kubernetes.io/zone" instead`,
	"beta.kubernetes.io/instance-type":         `deprecated since v1.17; use "node.kubernetes.io/instance-type" instead`,
}

// renamedLabel warns of a node label with a newer name.
func (w *warner) renamedLabel(p *check.Path, label string) {
	if why, ok := movedLabels[label]; ok {
		w.warn("%s: %s is %s", p.String(), label, why)
	}
}

// nodes examines the node selector and node affinity.
func (w *warner) nodes(p *check.Path) {
	for label := range w.spec.NodeSelector {
		if why, ok := movedLabels[label]; ok {
			w.warn("%s: %s", p.Child("nodeSelector").Key(label).String(), why)
		}
	}
	if a := w.spec.Affinity; a != nil && a.NodeAffinity != nil {
		at := p.Child("affinity", "nodeAffinity")
		if r := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution; r != nil {
			for i := range r.NodeSelectorTerms {
				w.term(at.Child("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms").Index(i), &r.NodeSelectorTerms[i], false)
			}
		}
		for i := range a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			t := &a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution[i]
			w.term(at.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i).Child("preference"), &t.Preference, true)
		}
	}
	for i, c := range w.spec.TopologySpreadConstraints {
		at := p.Child("topologySpreadConstraints").Index(i)
		w.renamedLabel(at.Child("topologyKey"), c.TopologyKey)
		if c.LabelSelector == nil {
			w.selectsNoPods(at)
		}
	}
}

// TermWarnings warns of node labels with newer names in a node selector term.
func TermWarnings(p *check.Path, t *corev1.NodeSelectorTerm) []string {
	var w warner
	w.term(p, t, false)
	return w.list
}

func (w *warner) term(p *check.Path, t *corev1.NodeSelectorTerm, values bool) {
	for i, e := range t.MatchExpressions {
		at := p.Child("matchExpressions").Index(i)
		w.renamedLabel(at.Child("key"), e.Key)
		for j := 0; values && j < len(e.Values); j++ {
			for _, msg := range validation.IsValidLabelValue(e.Values[j]) {
				w.warn("%s: %s is invalid, %s", at.Child("values").Index(j).String(), e.Values[j], msg)
			}
		}
	}
}

// affinities warns of pod affinity terms that select no pods.
func (w *warner) affinities(p *check.Path) {
	a := w.spec.Affinity
	if a == nil {
		return
	}
	terms := func(p *check.Path, required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		for i, t := range required {
			if t.LabelSelector == nil {
				w.selectsNoPods(p.Child("requiredDuringSchedulingIgnoredDuringExecution").Index(i))
			}
		}
		for i, t := range preferred {
			if t.PodAffinityTerm.LabelSelector == nil {
				w.selectsNoPods(p.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i).Child("podAffinityTerm"))
			}
		}
	}
	if a := a.PodAffinity; a != nil {
		terms(p.Child("podAffinity"), a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a := a.PodAntiAffinity; a != nil {
		terms(p.Child("podAntiAffinity"), a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

func (w *warner) selectsNoPods(p *check.Path) {
	w.warn("%s: a null labelSelector results in matching no pod", p.Child("labelSelector").String())
}
