package scheduler

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
)

// PodInfo is a pod with its rules read and compiled, once per version of the pod. It is
// read-only, except for the node and the start, which belong to the Cluster.
type PodInfo struct {
	Pod      *corev1.Pod
	Requests Resources // what must fit
	Compared Resources // what nodes are compared by: small amounts stand for missing requests
	Priority int32

	ports        []hostPort
	nodes        *nodeRule
	preferNodes  []weightedNodeTerm
	affinity     []affinityRule // required
	attract      *matcher       // the pods that fit all required affinity terms; nil: none
	antiAffinity []affinityRule // required
	preferPods   []affinityRule // weights are negative for anti-affinity
	spread       []spreadRule
	claims       []string // names of PersistentVolumeClaims
	bad          error    // a rule that cannot be read
	node         *NodeInfo
	start        *metav1.Time // nil: it has not started
	terminating  bool
	ghost        bool // of a nominated pod
}

type weightedNodeTerm struct {
	nodeTerm
	weight int64
}

type affinityRule struct {
	*matcher
	topologyKey string
	weight      int64
}

type spreadRule struct {
	*matcher
	selectsNone bool // an empty selector counts no pods
	topologyKey string
	maxSkew     int64
	minDomains  int
	hard        bool
	anyNode     bool // count pods of nodes that the pod's node affinity rules out
	byTaint     bool // do not count pods of nodes whose taints the pod does not tolerate
}

// NewPodInfo reads a pod. It always succeeds; a pod with unreadable rules fits nowhere.
func NewPodInfo(pod *corev1.Pod) *PodInfo {
	p := &PodInfo{Pod: pod, Requests: podRequests(pod, false), Compared: podRequests(pod, true)}
	if pod.Spec.Priority != nil {
		p.Priority = *pod.Spec.Priority
	}
	p.terminating = pod.DeletionTimestamp != nil
	p.start = pod.Status.StartTime
	p.ports = hostPorts(pod)
	p.claims = claimNames(pod)
	for _, read := range []func() error{p.readNodeRules, p.readAffinity, p.readSpread} {
		if err := read(); err != nil && p.bad == nil {
			p.bad = fmt.Errorf("parsing pod: %w", err)
		}
	}
	return p
}

// Key is the pod's namespace and name.
func (p *PodInfo) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: p.Pod.Namespace, Name: p.Pod.Name}
}

func (p *PodInfo) readNodeRules() (err error) {
	if p.nodes, err = newNodeRule(&p.Pod.Spec); err != nil {
		return err
	}
	a := p.Pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil {
		return nil
	}
	for _, t := range a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
		term, err := newNodeTerm(&t.Preference)
		if err != nil {
			return err
		}
		p.preferNodes = append(p.preferNodes, weightedNodeTerm{term, int64(t.Weight)})
	}
	return nil
}

func (p *PodInfo) readAffinity() error {
	a := p.Pod.Spec.Affinity
	if a == nil {
		return nil
	}
	var all []matchTerm
	if pa := a.PodAffinity; pa != nil {
		for i := range pa.RequiredDuringSchedulingIgnoredDuringExecution {
			r, err := p.affinityRule(&pa.RequiredDuringSchedulingIgnoredDuringExecution[i], 1)
			if err != nil {
				return err
			}
			p.affinity = append(p.affinity, r)
			all = append(all, r.terms...)
		}
		if err := p.preferences(pa.PreferredDuringSchedulingIgnoredDuringExecution, 1); err != nil {
			return err
		}
	}
	if all != nil {
		p.attract = newMatcher(all...)
	}
	if pa := a.PodAntiAffinity; pa != nil {
		for i := range pa.RequiredDuringSchedulingIgnoredDuringExecution {
			r, err := p.affinityRule(&pa.RequiredDuringSchedulingIgnoredDuringExecution[i], 1)
			if err != nil {
				return err
			}
			p.antiAffinity = append(p.antiAffinity, r)
		}
		return p.preferences(pa.PreferredDuringSchedulingIgnoredDuringExecution, -1)
	}
	return nil
}

func (p *PodInfo) preferences(terms []corev1.WeightedPodAffinityTerm, sign int64) error {
	for i := range terms {
		r, err := p.affinityRule(&terms[i].PodAffinityTerm, sign*int64(terms[i].Weight))
		if err != nil {
			return err
		}
		p.preferPods = append(p.preferPods, r)
	}
	return nil
}

func (p *PodInfo) affinityRule(t *corev1.PodAffinityTerm, weight int64) (affinityRule, error) {
	term, err := affinityTerm(p.Pod, t)
	if err != nil {
		return affinityRule{}, err
	}
	return affinityRule{matcher: newMatcher(term), topologyKey: t.TopologyKey, weight: weight}, nil
}

func (p *PodInfo) readSpread() error {
	for i := range p.Pod.Spec.TopologySpreadConstraints {
		c := &p.Pod.Spec.TopologySpreadConstraints[i]
		s, err := metav1.LabelSelectorAsSelector(c.LabelSelector)
		if err != nil {
			return err
		}
		r := newSpreadRule(p.Pod.Namespace, withLabelKeys(s, p.Pod, c.MatchLabelKeys, selection.In), c.TopologyKey, int64(c.MaxSkew))
		r.hard = c.WhenUnsatisfiable == corev1.DoNotSchedule
		r.readPolicies(c)
		p.spread = append(p.spread, r)
	}
	return nil
}

// readPolicies reads what a constraint says of which nodes and domains count.
func (r *spreadRule) readPolicies(c *corev1.TopologySpreadConstraint) {
	if c.MinDomains != nil {
		r.minDomains = int(*c.MinDomains)
	}
	r.anyNode = c.NodeAffinityPolicy != nil && *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyIgnore
	r.byTaint = c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
}

func newSpreadRule(ns string, s labels.Selector, topologyKey string, maxSkew int64) spreadRule {
	return spreadRule{
		matcher:     inNamespace(ns, s),
		selectsNone: s.Empty(),
		topologyKey: topologyKey,
		maxSkew:     maxSkew,
		minDomains:  1,
	}
}
