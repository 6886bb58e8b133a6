package scheduler

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// matcher says which pods a rule talks about: those in some namespaces whose labels fit
// a selector. A matcher with several terms means the pods that fit all of them.
// Matchers with equal keys mean the same pods.
type matcher struct {
	terms []matchTerm
	key   string
}

type matchTerm struct {
	namespaces []string        // by name
	nsSelector labels.Selector // and by label; nil: none
	selector   labels.Selector
}

// matches needs the labels of the pod's namespace only for terms with a namespace selector.
func (m *matcher) matches(ns string, podLabels map[string]string, nsLabels func(string) map[string]string) bool {
	for i := range m.terms {
		t := &m.terms[i]
		if !t.selector.Matches(labels.Set(podLabels)) {
			return false
		}
		if slices.Contains(t.namespaces, ns) {
			continue
		}
		if t.nsSelector == nil || !t.nsSelector.Matches(labels.Set(nsLabels(ns))) {
			return false
		}
	}
	return true
}

// readsNamespaces says whether labels of namespaces decide.
func (m *matcher) readsNamespaces() bool {
	return slices.ContainsFunc(m.terms, func(t matchTerm) bool { return t.nsSelector != nil })
}

func newMatcher(terms ...matchTerm) *matcher {
	var b strings.Builder
	for _, t := range terms {
		b.WriteString(strings.Join(t.namespaces, ","))
		b.WriteByte('|')
		if t.nsSelector != nil {
			b.WriteByte('?')
			b.WriteString(t.nsSelector.String())
		}
		b.WriteByte('|')
		if t.selector.Empty() {
			b.WriteByte('*') // everything; nothing writes as the empty string too
		}
		b.WriteString(t.selector.String())
		b.WriteByte(';')
	}
	return &matcher{terms: terms, key: b.String()}
}

// inNamespace is the matcher of the pods of one namespace that fit selector.
func inNamespace(ns string, selector labels.Selector) *matcher {
	return newMatcher(matchTerm{namespaces: []string{ns}, selector: selector})
}

// affinityTerm reads one term of pod's (anti-)affinity.
func affinityTerm(pod *corev1.Pod, t *corev1.PodAffinityTerm) (matchTerm, error) {
	selector, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
	if err != nil {
		return matchTerm{}, err
	}
	selector = withLabelKeys(selector, pod, t.MatchLabelKeys, selection.In)
	selector = withLabelKeys(selector, pod, t.MismatchLabelKeys, selection.NotIn)
	m := matchTerm{namespaces: slices.Clone(t.Namespaces), selector: selector}
	slices.Sort(m.namespaces)
	if t.NamespaceSelector != nil {
		if m.nsSelector, err = metav1.LabelSelectorAsSelector(t.NamespaceSelector); err != nil {
			return matchTerm{}, err
		}
	} else if len(m.namespaces) == 0 {
		m.namespaces = []string{pod.Namespace}
	}
	return m, nil
}

// withLabelKeys narrows selector by the pod's own values under keys. An API server may
// have merged them into the selector already; twice means the same.
func withLabelKeys(s labels.Selector, pod *corev1.Pod, keys []string, op selection.Operator) labels.Selector {
	for _, k := range keys {
		if v, ok := pod.Labels[k]; ok {
			if r, err := labels.NewRequirement(k, op, []string{v}); err == nil {
				s = s.Add(*r)
			}
		}
	}
	return s
}
