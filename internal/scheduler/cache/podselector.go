package cache

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// A PodSelector selects the pods of some namespaces whose labels match a selector. With several
// terms it selects the pods that match all of them. PodSelectors with equal keys select the same
// pods.
type PodSelector struct {
	terms []podSelectorTerm
	Key   string
}

type podSelectorTerm struct {
	namespaces []string        // by name
	nsSelector labels.Selector // and by label; nil: not used
	selector   labels.Selector
}

// Matches reports whether the selector selects a pod. It reads the labels of the pod's namespace
// only for terms with a namespace selector.
func (m *PodSelector) Matches(ns string, podLabels map[string]string, nsLabels func(string) map[string]string) bool {
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

// SelectsLabels reports whether the selector of the first term selects an object with these labels,
// in any namespace.
func (m *PodSelector) SelectsLabels(objectLabels map[string]string) bool {
	return m.terms[0].selector.Matches(labels.Set(objectLabels))
}

// readsNamespaces reports whether labels of namespaces matter.
func (m *PodSelector) readsNamespaces() bool {
	return slices.ContainsFunc(m.terms, func(t podSelectorTerm) bool { return t.nsSelector != nil })
}

func newPodSelector(terms ...podSelectorTerm) *PodSelector {
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
			b.WriteByte('*') // an empty selector; one that matches no object also prints as ""
		}
		b.WriteString(t.selector.String())
		b.WriteByte(';')
	}
	return &PodSelector{terms: terms, Key: b.String()}
}

// selectInNamespace returns the PodSelector of the pods of one namespace that match selector.
func selectInNamespace(ns string, selector labels.Selector) *PodSelector {
	return newPodSelector(podSelectorTerm{namespaces: []string{ns}, selector: selector})
}

// newPodSelectorTerm parses one term of pod's affinity or anti-affinity.
func newPodSelectorTerm(pod *corev1.Pod, t *corev1.PodAffinityTerm) (podSelectorTerm, error) {
	selector, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
	if err != nil {
		return podSelectorTerm{}, err
	}
	selector = withLabelKeys(selector, pod, t.MatchLabelKeys, selection.In)
	selector = withLabelKeys(selector, pod, t.MismatchLabelKeys, selection.NotIn)
	m := podSelectorTerm{namespaces: slices.Clone(t.Namespaces), selector: selector}
	slices.Sort(m.namespaces)
	if t.NamespaceSelector != nil {
		if m.nsSelector, err = metav1.LabelSelectorAsSelector(t.NamespaceSelector); err != nil {
			return podSelectorTerm{}, err
		}
	} else if len(m.namespaces) == 0 {
		m.namespaces = []string{pod.Namespace}
	}
	return m, nil
}

// withLabelKeys adds requirements with the pod's own values of keys to the selector. The API server
// may have merged them already; a repeated requirement changes no result.
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
