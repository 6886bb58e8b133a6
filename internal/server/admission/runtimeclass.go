package admission

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// RuntimeClass sets a class's overhead, node selector and tolerations in the pods that name it.
type RuntimeClass struct{ Lookup Lookup }

// Name implements Plugin.
func (RuntimeClass) Name() string { return "RuntimeClass" }

// Admit implements Mutator.
func (p RuntimeClass) Admit(ctx context.Context, r *Request) error {
	if !r.on(Create, core("pods")) {
		return nil
	}
	pod := r.Object.(*corev1.Pod)
	if pod.Spec.RuntimeClassName == nil {
		return nil
	}
	name := *pod.Spec.RuntimeClassName
	obj, err := p.Lookup.Get(ctx, schema.GroupResource{Group: "node.k8s.io", Resource: "runtimeclasses"}, "", name)
	if apierrors.IsNotFound(err) {
		return forbid(r, fmt.Errorf("pod rejected: RuntimeClass %q not found", name))
	}
	if err != nil {
		return status(err)
	}
	if err := applyRuntimeClass(pod, obj.(*nodev1.RuntimeClass)); err != nil {
		return forbid(r, err)
	}
	return nil
}

// Validate implements Validator.
func (p RuntimeClass) Validate(_ context.Context, r *Request) error {
	if !r.on(Create, core("pods")) {
		return nil
	}
	if pod := r.Object.(*corev1.Pod); pod.Spec.RuntimeClassName == nil && len(pod.Spec.Overhead) > 0 {
		return forbid(r, errors.New("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"))
	}
	return nil
}

func applyRuntimeClass(pod *corev1.Pod, class *nodev1.RuntimeClass) error {
	switch {
	case class.Overhead != nil:
		if len(pod.Spec.Overhead) > 0 && !equality.Semantic.DeepEqual(class.Overhead.PodFixed, pod.Spec.Overhead) {
			return errors.New("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
		}
		pod.Spec.Overhead = class.Overhead.PodFixed.DeepCopy()
	case len(pod.Spec.Overhead) > 0:
		return errors.New("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
	}
	if class.Scheduling == nil {
		return nil
	}
	for k, v := range class.Scheduling.NodeSelector {
		if have, ok := pod.Spec.NodeSelector[k]; ok && have != v {
			return fmt.Errorf("conflict: runtimeClass.scheduling.nodeSelector[%s] = %s; pod.spec.nodeSelector[%s] = %s", k, v, k, have)
		}
		if pod.Spec.NodeSelector == nil {
			pod.Spec.NodeSelector = map[string]string{}
		}
		pod.Spec.NodeSelector[k] = v
	}
	for _, t := range class.Scheduling.Tolerations {
		if !hasToleration(pod.Spec.Tolerations, t) {
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, *t.DeepCopy())
		}
	}
	return nil
}

func hasToleration(list []corev1.Toleration, t corev1.Toleration) bool {
	for i := range list {
		if equality.Semantic.DeepEqual(list[i], t) {
			return true
		}
	}
	return false
}
