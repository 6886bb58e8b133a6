package admission

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
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
	compositeGroups = schema.GroupResource{Group: "scheduling.k8s.io", Resource: "compositepodgroups"}
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
		s := &r.Object.(*schedulingv1beta1.PodGroup).Spec
		return group(ctx, p, r, "pod group", &s.PriorityClassName, &s.Priority, &s.PreemptionPolicy)
	case r.on(Create, compositeGroups):
		s := &r.Object.(*schedulingv1alpha3.CompositePodGroup).Spec
		return group(ctx, p, r, "composite pod group", &s.PriorityClassName, &s.Priority, &s.PreemptionPolicy)
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

// group sets the priority of a new pod group or group of groups, and the preemption policy if groups have one.
func group[Policy ~string](ctx context.Context, p Priority, r *Request, kind string, name *string, priority **int32, preemption **Policy) error {
	class, err := p.classOf(ctx, r, *name)
	if err != nil {
		return err
	}
	if given := *priority; given != nil && *given != class.Value {
		return forbid(r, fmt.Errorf("priority set in the %s (%d) must match the priority computed (%d) based on the priority class set in the spec", kind, *given, class.Value))
	}
	value := class.Value
	*priority, *name = &value, class.Name
	if !p.GroupPolicy || class.PreemptionPolicy == nil {
		return nil
	}
	policy := Policy(*class.PreemptionPolicy)
	if given := *preemption; given != nil && *given != policy {
		return forbid(r, fmt.Errorf("the string value of PreemptionPolicy (%s) must not be provided in %s spec; priority admission controller computed %s from the given PriorityClass name", *given, kind, policy))
	}
	*preemption = &policy
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
