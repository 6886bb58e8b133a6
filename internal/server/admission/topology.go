package admission

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// PodTopologyLabels copies the zone and the region of a node to the labels of a pod that is bound to it or created
// on it.
type PodTopologyLabels struct{ Lookup Lookup }

// Name implements Plugin.
func (PodTopologyLabels) Name() string { return "PodTopologyLabels" }

// Admit implements Mutator.
func (p PodTopologyLabels) Admit(ctx context.Context, r *Request) error {
	if r.Verb != Create || r.GroupResource() != core("pods") {
		return nil
	}
	switch obj := r.Object.(type) {
	case *corev1.Binding: // the labels of a binding become the pod's
		if obj.Target.Kind == "" || obj.Target.Kind == "Node" {
			return p.label(ctx, obj.Target.Name, &obj.Labels)
		}
	case *corev1.Pod:
		if obj.Spec.NodeName != "" {
			return p.label(ctx, obj.Spec.NodeName, &obj.Labels)
		}
	}
	return nil
}

func (p PodTopologyLabels) label(ctx context.Context, node string, labels *map[string]string) error {
	obj, err := p.Lookup.Get(ctx, core("nodes"), "", node)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return status(err)
	}
	for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion} {
		v, ok := obj.(*corev1.Node).Labels[key]
		if !ok {
			continue
		}
		if *labels == nil {
			*labels = map[string]string{}
		}
		(*labels)[key] = v
	}
	return nil
}
