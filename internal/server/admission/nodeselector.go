package admission

import (
	"context"
	"errors"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"fairlead.dev/internal/server/admission/config"
)

// PodNodeSelector adds the node selector of a namespace to its pods, and rejects pods that contradict it or that select
// labels which Selectors does not list for the namespace.
type PodNodeSelector struct {
	Lookup Lookup
	// Selectors are those of config.Config.NodeSelectors.
	Selectors map[string]string
}

// namespaceNodeSelector is the annotation of namespaces with a node selector.
const namespaceNodeSelector = "scheduler.alpha.kubernetes.io/node-selector"

// Name implements Plugin.
func (PodNodeSelector) Name() string { return "PodNodeSelector" }

// Admit implements Mutator.
func (p PodNodeSelector) Admit(ctx context.Context, r *Request) error {
	if !r.on(Create, core("pods")) {
		return nil
	}
	if err := p.Validate(ctx, r); err != nil {
		return err
	}
	selector, err := p.selector(ctx, r.Namespace)
	if err != nil {
		return err
	}
	pod := r.Object.(*corev1.Pod)
	if len(selector) > 0 && pod.Spec.NodeSelector == nil {
		pod.Spec.NodeSelector = map[string]string{}
	}
	maps.Copy(pod.Spec.NodeSelector, selector)
	return p.Validate(ctx, r)
}

// Validate implements Validator.
func (p PodNodeSelector) Validate(ctx context.Context, r *Request) error {
	if !r.on(Create, core("pods")) {
		return nil
	}
	selector, err := p.selector(ctx, r.Namespace)
	if err != nil {
		return err
	}
	pod := r.Object.(*corev1.Pod)
	refuse := func(why string) error { return apierrors.NewForbidden(r.GroupResource(), pod.Name, errors.New(why)) }
	if labels.Conflicts(selector, pod.Spec.NodeSelector) {
		return refuse("pod node label selector conflicts with its namespace node label selector")
	}
	listed, err := labels.ConvertSelectorToLabelsMap(p.Selectors[r.Namespace])
	if err != nil {
		return unclassified(err)
	}
	if len(listed) == 0 {
		return nil
	}
	for key, value := range pod.Spec.NodeSelector {
		if v, ok := listed[key]; !ok || v != value {
			return refuse("pod node label selector labels conflict with its namespace whitelist")
		}
	}
	return nil
}

// selector returns the node selector of a namespace.
func (p PodNodeSelector) selector(ctx context.Context, namespace string) (labels.Set, error) {
	obj, err := p.Lookup.Get(ctx, core("namespaces"), "", namespace)
	if err != nil {
		return nil, status(err)
	}
	text, ok := obj.(*corev1.Namespace).Annotations[namespaceNodeSelector]
	if !ok {
		text = p.Selectors[config.DefaultNodeSelector]
	}
	set, err := labels.ConvertSelectorToLabelsMap(text)
	if err != nil {
		return nil, unclassified(err)
	}
	return set, nil
}
