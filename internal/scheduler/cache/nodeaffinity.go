package cache

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// RequiredNodeAffinity is a pod's node selector and required node affinity. The selector must match
// and, if there are terms, one of them.
type RequiredNodeAffinity struct {
	selector labels.Selector
	terms    []NodeSelectorTerm
	hasTerms bool
	ByName   bool     // every term names its nodes:
	Names    []string // these, sorted
}

type NodeSelectorTerm struct {
	byLabel labels.Selector // nil: the term has no matchExpressions
	byName  labels.Selector // of metadata.name; nil: no matchFields
}

func (r *RequiredNodeAffinity) Matches(node *corev1.Node) bool {
	if r == nil {
		return true
	}
	if !r.selector.Matches(labels.Set(node.Labels)) {
		return false
	}
	if !r.hasTerms {
		return true
	}
	for i := range r.terms {
		if r.terms[i].Matches(node) {
			return true
		}
	}
	return false
}

// Matches reports whether the term matches. A term without expressions and fields never matches.
func (t *NodeSelectorTerm) Matches(node *corev1.Node) bool {
	if t.byLabel == nil && t.byName == nil {
		return false
	}
	if t.byLabel != nil && !t.byLabel.Matches(labels.Set(node.Labels)) {
		return false
	}
	return t.byName == nil || t.byName.Matches(labels.Set{"metadata.name": node.Name})
}

// NewRequiredNodeAffinity returns nil if the pod may run on any node.
func NewRequiredNodeAffinity(spec *corev1.PodSpec) (*RequiredNodeAffinity, error) {
	var required *corev1.NodeSelector
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil {
		required = a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	if len(spec.NodeSelector) == 0 && required == nil {
		return nil, nil
	}
	r := &RequiredNodeAffinity{selector: labels.SelectorFromSet(spec.NodeSelector)}
	if required != nil {
		r.hasTerms = true
		for i := range required.NodeSelectorTerms {
			t, err := NewNodeSelectorTerm(&required.NodeSelectorTerms[i])
			if err != nil {
				return nil, err
			}
			r.terms = append(r.terms, t)
		}
		r.Names, r.ByName = namesOf(required.NodeSelectorTerms)
	}
	return r, nil
}

// namesOf returns the nodes that the terms name; false if a term names no node, so that it may match
// any node.
func namesOf(terms []corev1.NodeSelectorTerm) (names []string, all bool) {
	for i := range terms {
		var of []string
		named := false
		for _, r := range terms[i].MatchFields {
			if r.Key != metav1.ObjectNameField || r.Operator != corev1.NodeSelectorOpIn {
				continue
			}
			if !named {
				of = slices.Clone(r.Values)
			} else {
				of = slices.DeleteFunc(of, func(name string) bool { return !slices.Contains(r.Values, name) })
			}
			named = true
		}
		if !named {
			return nil, false
		}
		names = append(names, of...)
	}
	slices.Sort(names)
	return slices.Compact(names), len(terms) > 0
}

func NewNodeSelectorTerm(t *corev1.NodeSelectorTerm) (n NodeSelectorTerm, err error) {
	if n.byLabel, err = nodeRequirements(t.MatchExpressions); err != nil {
		return n, err
	}
	n.byName, err = nodeRequirements(t.MatchFields)
	return n, err
}

var nodeOperators = map[corev1.NodeSelectorOperator]selection.Operator{
	corev1.NodeSelectorOpIn:           selection.In,
	corev1.NodeSelectorOpNotIn:        selection.NotIn,
	corev1.NodeSelectorOpExists:       selection.Exists,
	corev1.NodeSelectorOpDoesNotExist: selection.DoesNotExist,
	corev1.NodeSelectorOpGt:           selection.GreaterThan,
	corev1.NodeSelectorOpLt:           selection.LessThan,
}

func nodeRequirements(reqs []corev1.NodeSelectorRequirement) (labels.Selector, error) {
	if len(reqs) == 0 {
		return nil, nil
	}
	s := labels.NewSelector()
	for _, r := range reqs {
		op, known := nodeOperators[r.Operator]
		if !known {
			return nil, fmt.Errorf("%q is not a valid node selector operator", r.Operator)
		}
		req, err := labels.NewRequirement(r.Key, op, r.Values)
		if err != nil {
			return nil, err
		}
		s = s.Add(*req)
	}
	return s, nil
}
