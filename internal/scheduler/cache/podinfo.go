package cache

import (
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
)

// A PodInfo is a pod with its rules parsed, once for each version of the pod in which they differ. It is read-only,
// except NodeInfo and the Pod of one that is on a node, which belong to the Cluster.
type PodInfo struct {
	Pod             *corev1.Pod
	Requests        Resources // for filters
	NonZeroRequests Resources // for scores: missing requests count as small amounts
	Priority        int32
	Terminating     bool
	*PodRules       // never nil
	NodeInfo        *NodeInfo
	Nominee         *PodInfo // the nominated pod whose placeholder it is; nil: it is no placeholder
}

// PodRules are the rules and claims of a pod. Pods without any share one PodRules, since a cluster of many pods has mostly these.
type PodRules struct {
	HostPorts                 []HostPort
	RequiredNodeAffinity      *RequiredNodeAffinity
	PreferredNodeAffinity     []PreferredSchedulingTerm
	RequiredAffinityTerms     []AffinityTerm
	RequiredAffinityPods      *PodSelector // the pods that all required affinity terms select; nil: no terms
	RequiredAntiAffinityTerms []AffinityTerm
	PreferredAffinityTerms    []AffinityTerm // of anti-affinity with negative weights
	SpreadConstraints         []SpreadConstraint
	Claims                    []string // names of PersistentVolumeClaims
	ResourceClaims            []string // names of ResourceClaims, of those that exist according to the status
	ParseError                error    // the first malformed rule
}

var noRules PodRules

type PreferredSchedulingTerm struct {
	NodeSelectorTerm
	Weight int64
}

type AffinityTerm struct {
	*PodSelector
	TopologyKey string
	Weight      int64
}

// NewPodInfo parses a pod. It always succeeds; a pod with a malformed rule fits no node.
func NewPodInfo(pod *corev1.Pod) *PodInfo {
	p := &PodInfo{Pod: pod, Requests: podRequests(pod, false), NonZeroRequests: podRequests(pod, true), PodRules: &PodRules{}}
	if pod.Spec.Priority != nil {
		p.Priority = *pod.Spec.Priority
	}
	p.Terminating = pod.DeletionTimestamp != nil
	p.HostPorts = hostPorts(pod)
	p.Claims = claimNames(pod)
	p.ResourceClaims = resourceClaimNames(pod)
	for _, read := range []func() error{p.readNodeAffinity, p.readAffinity, p.readSpread} {
		if err := read(); err != nil && p.ParseError == nil {
			p.ParseError = fmt.Errorf("parsing pod: %w", err)
		}
	}
	if reflect.ValueOf(p.PodRules).Elem().IsZero() {
		p.PodRules = &noRules
	}
	return p
}

// Key returns the pod's namespace and name.
func (p *PodInfo) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: p.Pod.Namespace, Name: p.Pod.Name}
}

func (p *PodInfo) readNodeAffinity() (err error) {
	if p.RequiredNodeAffinity, err = NewRequiredNodeAffinity(&p.Pod.Spec); err != nil {
		return err
	}
	a := p.Pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil {
		return nil
	}
	for _, t := range a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
		term, err := NewNodeSelectorTerm(&t.Preference)
		if err != nil {
			return err
		}
		p.PreferredNodeAffinity = append(p.PreferredNodeAffinity, PreferredSchedulingTerm{term, int64(t.Weight)})
	}
	return nil
}

func (p *PodInfo) readAffinity() error {
	a := p.Pod.Spec.Affinity
	if a == nil {
		return nil
	}
	var all []podSelectorTerm
	if pa := a.PodAffinity; pa != nil {
		for i := range pa.RequiredDuringSchedulingIgnoredDuringExecution {
			r, err := p.affinityTerm(&pa.RequiredDuringSchedulingIgnoredDuringExecution[i], 1)
			if err != nil {
				return err
			}
			p.RequiredAffinityTerms = append(p.RequiredAffinityTerms, r)
			all = append(all, r.terms...)
		}
		if err := p.readPreferredTerms(pa.PreferredDuringSchedulingIgnoredDuringExecution, 1); err != nil {
			return err
		}
	}
	if all != nil {
		p.RequiredAffinityPods = newPodSelector(all...)
	}
	if pa := a.PodAntiAffinity; pa != nil {
		for i := range pa.RequiredDuringSchedulingIgnoredDuringExecution {
			r, err := p.affinityTerm(&pa.RequiredDuringSchedulingIgnoredDuringExecution[i], 1)
			if err != nil {
				return err
			}
			p.RequiredAntiAffinityTerms = append(p.RequiredAntiAffinityTerms, r)
		}
		return p.readPreferredTerms(pa.PreferredDuringSchedulingIgnoredDuringExecution, -1)
	}
	return nil
}

func (p *PodInfo) readPreferredTerms(terms []corev1.WeightedPodAffinityTerm, sign int64) error {
	for i := range terms {
		r, err := p.affinityTerm(&terms[i].PodAffinityTerm, sign*int64(terms[i].Weight))
		if err != nil {
			return err
		}
		p.PreferredAffinityTerms = append(p.PreferredAffinityTerms, r)
	}
	return nil
}

func (p *PodInfo) affinityTerm(t *corev1.PodAffinityTerm, weight int64) (AffinityTerm, error) {
	term, err := newPodSelectorTerm(p.Pod, t)
	if err != nil {
		return AffinityTerm{}, err
	}
	return AffinityTerm{PodSelector: newPodSelector(term), TopologyKey: t.TopologyKey, Weight: weight}, nil
}

func (p *PodInfo) readSpread() error {
	for i := range p.Pod.Spec.TopologySpreadConstraints {
		c := &p.Pod.Spec.TopologySpreadConstraints[i]
		s, err := metav1.LabelSelectorAsSelector(c.LabelSelector)
		if err != nil {
			return err
		}
		p.SpreadConstraints = append(p.SpreadConstraints, NewSpreadConstraint(p.Pod.Namespace, withLabelKeys(s, p.Pod, c.MatchLabelKeys, selection.In), c))
	}
	return nil
}
