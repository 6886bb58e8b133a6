package cache

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

type SpreadConstraint struct {
	*PodSelector
	SelectsNone        bool // an empty selector counts no pods
	TopologyKey        string
	MaxSkew            int64
	MinDomains         int
	DoNotSchedule      bool
	IgnoreNodeAffinity bool // count pods on nodes that the pod's node affinity excludes
	HonorTaints        bool // do not count pods on nodes whose taints the pod does not tolerate
}

// NewSpreadConstraint parses a constraint about the pods of a namespace that selector selects.
func NewSpreadConstraint(namespace string, selector labels.Selector, c *corev1.TopologySpreadConstraint) SpreadConstraint {
	r := SpreadConstraint{
		PodSelector:        selectInNamespace(namespace, selector),
		SelectsNone:        selector.Empty(),
		TopologyKey:        c.TopologyKey,
		MaxSkew:            int64(c.MaxSkew),
		MinDomains:         1,
		DoNotSchedule:      c.WhenUnsatisfiable == corev1.DoNotSchedule,
		IgnoreNodeAffinity: c.NodeAffinityPolicy != nil && *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyIgnore,
		HonorTaints:        c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor,
	}
	if c.MinDomains != nil {
		r.MinDomains = int(*c.MinDomains)
	}
	return r
}
