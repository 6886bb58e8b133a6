package main

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"fairlead.dev/schedulerplugins"
)

// maintenance rejects the nodes that have an annotation, for pods that are not marked as short.
type maintenance struct{ annotation string }

var (
	_ fwk.FilterPlugin      = &maintenance{}
	_ fwk.EnqueueExtensions = &maintenance{}
)

// New makes the plugin of a profile. Its argument "annotation" names the annotation.
func New(_ context.Context, args runtime.Object, _ fwk.Handle) (fwk.Plugin, error) {
	var of struct {
		Annotation string `json:"annotation"`
	}
	if err := schedulerplugins.DecodeInto(args, &of); err != nil {
		return nil, err
	}
	if of.Annotation == "" {
		return nil, errors.New("annotation: required")
	}
	return &maintenance{of.Annotation}, nil
}

func (*maintenance) Name() string { return "Maintenance" }

// Filter is called for each node.
func (m *maintenance) Filter(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, n fwk.NodeInfo) *fwk.Status {
	if n.Node().Annotations[m.annotation] != "" && pod.Labels["example.com/short"] == "" {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "node(s) were about to be maintained")
	}
	return nil
}

// EventsToRegister names what may let a pod fit that the plugin has rejected: a new node, or the end of a maintenance.
func (m *maintenance) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{{
		Event:          fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeAnnotation},
		QueueingHintFn: m.hint,
	}}, nil
}

func (m *maintenance) hint(_ klog.Logger, _ *corev1.Pod, _, o any) (fwk.QueueingHint, error) {
	if n, ok := o.(*corev1.Node); ok && n.Annotations[m.annotation] == "" {
		return fwk.Queue, nil
	}
	return fwk.QueueSkip, nil
}
