package cache

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
)

// PodInfo is a pod with its rules read and compiled, once per version of the pod. It is
// read-only, except for the node and the start, which belong to the Cluster.
type PodInfo struct {
	Pod             *corev1.Pod
	Requests        Resources // what must fit
	NonZeroRequests Resources // what nodes are compared by: small amounts stand for missing requests
	Priority        int32

	HostPorts                 []HostPort
	RequiredNodeAffinity      *RequiredNodeAffinity
	PreferredNodeAffinity     []PreferredSchedulingTerm
	RequiredAffinityTerms     []AffinityTerm // required
	RequiredAffinityPods      *PodSelector   // the pods that fit all required affinity terms; nil: none
	RequiredAntiAffinityTerms []AffinityTerm // required
	PreferredAffinityTerms    []AffinityTerm // weights are negative for anti-affinity
	SpreadConstraints         []SpreadConstraint
	Claims                    []string // names of PersistentVolumeClaims
	ParseError                error    // a rule that cannot be read
	NodeInfo                  *NodeInfo
	StartTime                 *metav1.Time // nil: it has not started
	Terminating               bool
	Nominated                 bool // of a nominated pod
}

type PreferredSchedulingTerm struct {
	NodeSelectorTerm
	Weight int64
}

type AffinityTerm struct {
	*PodSelector
	TopologyKey string
	Weight      int64
}

// NewPodInfo reads a pod. It always succeeds; a pod with unreadable rules fits nowhere.
func NewPodInfo(pod *corev1.Pod) *PodInfo {
	p := &PodInfo{Pod: pod, Requests: podRequests(pod, false), NonZeroRequests: podRequests(pod, true)}
	if pod.Spec.Priority != nil {
		p.Priority = *pod.Spec.Priority
	}
	p.Terminating = pod.DeletionTimestamp != nil
	p.StartTime = pod.Status.StartTime
	p.HostPorts = hostPorts(pod)
	p.Claims = claimNames(pod)
	for _, read := range []func() error{p.readNodeAffinity, p.readAffinity, p.readSpread} {
		if err := read(); err != nil && p.ParseError == nil {
			p.ParseError = fmt.Errorf("parsing pod: %w", err)
		}
	}
	return p
}

// Key is the pod's namespace and name.
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
