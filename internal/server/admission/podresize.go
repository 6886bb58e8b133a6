package admission

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/quota"
)

// PodResize rejects a resize beyond the allocatable resources of the pod's node, or on a node whose operating
// system does not support it.
type PodResize struct{ Lookup Lookup }

// Name implements Plugin.
func (PodResize) Name() string { return "PodResizeValidator" }

// Validate implements Validator.
func (p PodResize) Validate(ctx context.Context, r *Request) error {
	if r.Verb != Update || r.Subresource != "resize" || r.GroupResource() != core("pods") {
		return nil
	}
	pod := r.Object.(*corev1.Pod)
	if pod.Spec.NodeName == "" || pod.Generation == r.Old.(*corev1.Pod).Generation {
		return nil
	}
	obj, err := p.Lookup.Get(ctx, core("nodes"), "", pod.Spec.NodeName)
	if apierrors.IsNotFound(err) {
		return forbid(r, fmt.Errorf("node %q not found", pod.Spec.NodeName))
	} else if err != nil {
		return forbid(r, fmt.Errorf("failed to get node %q: %w", pod.Spec.NodeName, err))
	}
	node := obj.(*corev1.Node)
	because := func(reason metav1.CauseType, err error) error {
		refused := forbid(r, err)
		refused.ErrStatus.Details.Causes = append(refused.ErrStatus.Details.Causes, metav1.StatusCause{Type: reason})
		return refused
	}
	if system, ok := node.Labels[corev1.LabelOSStable]; ok && system != "linux" {
		return because("UnsupportedPlatform", fmt.Errorf("pod resize is only supported on linux nodes, node %q is %q", node.Name, system))
	}
	asked := quota.Sum{Overhead: true}.Requests(pod)
	var lacks []string
	if cpu, has := asked.Cpu(), node.Status.Allocatable.Cpu(); cpu.Cmp(*has) > 0 {
		lacks = append(lacks, fmt.Sprintf("cpu, requested: %d, allocatable: %d", cpu.MilliValue(), has.MilliValue()))
	}
	if memory, has := asked.Memory(), node.Status.Allocatable.Memory(); memory.Cmp(*has) > 0 {
		lacks = append(lacks, fmt.Sprintf("memory, requested: %d, allocatable: %d", memory.Value(), has.Value()))
	}
	if lacks != nil {
		return because("NodeCapacity", fmt.Errorf("node didn't have enough allocatable resources: %s", strings.Join(lacks, "; ")))
	}
	return nil
}
