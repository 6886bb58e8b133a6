package admission

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Priority sets the priority of pods and pod groups from their priority class, and allows at most one default class.
type Priority struct {
	Lookup Lookup
	// GroupPolicy: pod groups have a preemption policy too (feature gate PodGroupPreemptionPolicy).
	GroupPolicy bool
}

var (
	priorityClasses = schema.GroupResource{Group: "scheduling.k8s.io", Resource: "priorityclasses"}
	podGroups       = schema.GroupResource{Group: "scheduling.k8s.io", Resource: "podgroups"}
)

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
	case r.on(Create, podGroups):
		return p.group(ctx, r, r.Object.(*schedulingv1beta1.PodGroup))
	case r.on(Create, priorityClasses), r.on(Update, priorityClasses):
		return p.class(ctx, r, r.Object.(*schedulingv1.PriorityClass))
	}
	return nil
}

// classOf returns the class of that name; without a name the default class, or one of priority 0 if there is none.
func (p Priority) classOf(ctx context.Context, r *Request, name string) (*schedulingv1.PriorityClass, error) {
	if name == "" {
		def, err := p.standard(ctx)
		if err != nil {
			return nil, status(err)
		}
		if def == nil {
			preempt := corev1.PreemptLowerPriority
			def = &schedulingv1.PriorityClass{PreemptionPolicy: &preempt}
		}
		return def, nil
	}
	obj, err := p.Lookup.Get(ctx, priorityClasses, "", name)
	if apierrors.IsNotFound(err) {
		return nil, forbid(r, fmt.Errorf("no PriorityClass with name %v was found", name))
	}
	if err != nil {
		return nil, status(err)
	}
	return obj.(*schedulingv1.PriorityClass), nil
}

// group sets the priority of a new pod group, and the preemption policy if groups have one.
func (p Priority) group(ctx context.Context, r *Request, g *schedulingv1beta1.PodGroup) error {
	class, err := p.classOf(ctx, r, g.Spec.PriorityClassName)
	if err != nil {
		return err
	}
	if given := g.Spec.Priority; given != nil && *given != class.Value {
		return forbid(r, fmt.Errorf("priority set in the pod group (%d) must match the priority computed (%d) based on the priority class set in the spec", *given, class.Value))
	}
	value := class.Value
	g.Spec.Priority, g.Spec.PriorityClassName = &value, class.Name
	if !p.GroupPolicy || class.PreemptionPolicy == nil {
		return nil
	}
	policy := schedulingv1beta1.PreemptionPolicy(*class.PreemptionPolicy)
	if given := g.Spec.PreemptionPolicy; given != nil && *given != policy {
		return forbid(r, fmt.Errorf("the string value of PreemptionPolicy (%s) must not be provided in pod group spec; priority admission controller computed %s from the given PriorityClass name", *given, policy))
	}
	g.Spec.PreemptionPolicy = &policy
	return nil
}

func (p Priority) create(ctx context.Context, r *Request, pod *corev1.Pod) error {
	class, err := p.classOf(ctx, r, pod.Spec.PriorityClassName)
	if err != nil {
		return err
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
