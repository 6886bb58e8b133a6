package admission

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Priority sets a pod's priority from its priority class, and allows at most one default class.
type Priority struct{ Lookup Lookup }

var priorityClasses = schema.GroupResource{Group: "scheduling.k8s.io", Resource: "priorityclasses"}

// Name implements Plugin.
func (Priority) Name() string { return "Priority" }

// Admit implements Mutator.
func (p Priority) Admit(ctx context.Context, r *Request) error {
	switch {
	case r.on(Create, core("pods")):
		return p.create(ctx, r, r.Object.(*corev1.Pod))
	case r.on(Update, core("pods")):
		pod, old := r.Object.(*corev1.Pod), r.Old.(*corev1.Pod)
		if pod.Spec.Priority == nil {
			pod.Spec.Priority = old.Spec.Priority
		}
		if pod.Spec.PreemptionPolicy == nil {
			pod.Spec.PreemptionPolicy = old.Spec.PreemptionPolicy
		}
	case r.on(Create, priorityClasses), r.on(Update, priorityClasses):
		return p.class(ctx, r, r.Object.(*schedulingv1.PriorityClass))
	}
	return nil
}

func (p Priority) create(ctx context.Context, r *Request, pod *corev1.Pod) error {
	preempt := corev1.PreemptLowerPriority
	class := &schedulingv1.PriorityClass{PreemptionPolicy: &preempt}
	if name := pod.Spec.PriorityClassName; name != "" {
		obj, err := p.Lookup.Get(ctx, priorityClasses, "", name)
		if apierrors.IsNotFound(err) {
			return forbid(r, fmt.Errorf("no PriorityClass with name %v was found", name))
		}
		if err != nil {
			return status(err)
		}
		class = obj.(*schedulingv1.PriorityClass)
	} else if def, err := p.standard(ctx); err != nil {
		return status(err)
	} else if def != nil {
		class = def
	}
	pod.Spec.PriorityClassName = class.Name
	if given := pod.Spec.Priority; given != nil && *given != class.Value {
		return forbid(r, fmt.Errorf("the integer value of priority (%d) must not be provided in pod spec; priority admission controller computed %d from the given PriorityClass name", *given, class.Value))
	}
	value := class.Value
	pod.Spec.Priority = &value
	if class.PreemptionPolicy == nil {
		return nil
	}
	policy := *class.PreemptionPolicy
	if given := pod.Spec.PreemptionPolicy; given != nil && *given != policy {
		return forbid(r, fmt.Errorf("the string value of PreemptionPolicy (%s) must not be provided in pod spec; priority admission controller computed %s from the given PriorityClass name", *given, policy))
	}
	pod.Spec.PreemptionPolicy = &policy
	return nil
}

// standard returns the default class, the lowest one if a race created two.
func (p Priority) standard(ctx context.Context) (*schedulingv1.PriorityClass, error) {
	list, err := p.Lookup.List(ctx, priorityClasses, "")
	if err != nil {
		return nil, err
	}
	var def *schedulingv1.PriorityClass
	for _, obj := range list {
		if c := obj.(*schedulingv1.PriorityClass); c.GlobalDefault && (def == nil || c.Value < def.Value) {
			def = c
		}
	}
	return def, nil
}

func (p Priority) class(ctx context.Context, r *Request, c *schedulingv1.PriorityClass) error {
	if !c.GlobalDefault {
		return nil
	}
	def, err := p.standard(ctx)
	if err != nil {
		return status(err)
	}
	if def != nil && (r.Verb == Create || def.Name != c.Name) {
		return forbid(r, fmt.Errorf("PriorityClass %v is already marked as default. Only one default can exist", def.Name))
	}
	return nil
}
