package quota

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Sum selects the parts of a pod's sum. The zero value sums the resources in the spec: those of the containers, or
// pod-level ones where set.
type Sum struct {
	// Actual includes resources that containers hold during a resize: each resource is the maximum of the
	// requested, the allocated and the actual amount.
	Actual bool
	// Overhead adds the overhead of the pod's runtime class; to limits only where there is one.
	Overhead bool
}

// Requests returns the requests of the pod.
func (s Sum) Requests(pod *corev1.Pod) corev1.ResourceList {
	asked := total(pod, func(c *corev1.Container) corev1.ResourceList { return c.Resources.Requests })
	if s.Actual {
		infeasible := resizeInfeasible(pod)
		spec := func(c *corev1.Container) corev1.ResourceList {
			if infeasible {
				return nil
			}
			return c.Resources.Requests
		}
		allotted := func(c *corev1.Container) corev1.ResourceList {
			if s := statusOf(pod, c.Name); s != nil && s.AllocatedResources != nil {
				return s.AllocatedResources
			}
			return spec(c)
		}
		used := total(pod, func(c *corev1.Container) corev1.ResourceList {
			if s := statusOf(pod, c.Name); s != nil && s.Resources != nil && s.Resources.Requests != nil {
				return s.Resources.Requests
			}
			return allotted(c)
		})
		if infeasible {
			asked = corev1.ResourceList{}
		}
		raiseTo(asked, total(pod, allotted))
		raiseTo(asked, used)
	}
	if pod.Spec.Resources != nil {
		overrideWith(asked, pod.Spec.Resources.Requests)
	}
	if s.Overhead {
		AddTo(asked, pod.Spec.Overhead)
	}
	return asked
}

// Limits returns the limits of the pod.
func (s Sum) Limits(pod *corev1.Pod) corev1.ResourceList {
	limits := total(pod, func(c *corev1.Container) corev1.ResourceList { return c.Resources.Limits })
	if s.Actual {
		infeasible := resizeInfeasible(pod)
		used := total(pod, func(c *corev1.Container) corev1.ResourceList {
			if s := statusOf(pod, c.Name); s != nil && s.Resources != nil && s.Resources.Limits != nil {
				return s.Resources.Limits
			}
			if infeasible {
				return nil
			}
			return c.Resources.Limits
		})
		if infeasible {
			limits = corev1.ResourceList{}
		}
		raiseTo(limits, used)
	}
	if pod.Spec.Resources != nil {
		overrideWith(limits, pod.Spec.Resources.Limits)
	}
	if s.Overhead {
		for name, q := range pod.Spec.Overhead {
			if have, ok := limits[name]; ok && !have.IsZero() {
				have.Add(q)
				limits[name] = have
			}
		}
	}
	return limits
}

// total sums containers by their order of running: all of them together with the sidecars, but at least each init
// container with the sidecars started before it.
func total(pod *corev1.Pod, of func(*corev1.Container) corev1.ResourceList) corev1.ResourceList {
	running, sidecars, most := corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
	for i := range pod.Spec.Containers {
		AddTo(running, of(&pod.Spec.Containers[i]))
	}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			AddTo(running, of(c))
			AddTo(sidecars, of(c))
			raiseTo(most, sidecars)
			continue
		}
		step := sidecars.DeepCopy()
		AddTo(step, of(c))
		raiseTo(most, step)
	}
	raiseTo(running, most)
	return running
}

func statusOf(pod *corev1.Pod, container string) *corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		if i := slices.IndexFunc(list, func(s corev1.ContainerStatus) bool { return s.Name == container }); i >= 0 {
			return &list[i]
		}
	}
	return nil
}

func resizeInfeasible(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodResizePending && c.Reason == corev1.PodReasonInfeasible
	})
}

// raiseTo raises the entries of list to at least those of least; override replaces entries by pod-level ones.
func raiseTo(list, least corev1.ResourceList) {
	for name, q := range least {
		if have, ok := list[name]; !ok || q.Cmp(have) > 0 {
			list[name] = q.DeepCopy()
		}
	}
}

func overrideWith(list, by corev1.ResourceList) {
	for name, q := range by {
		if podLevel(name) {
			list[name] = q.DeepCopy()
		}
	}
}

// podLevel reports whether a resource may be specified at pod level.
func podLevel(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// HasPodLevelResources reports whether the pod has pod-level resources.
func HasPodLevelResources(pod *corev1.Pod) bool {
	if pod.Spec.Resources == nil {
		return false
	}
	for _, list := range []corev1.ResourceList{pod.Spec.Resources.Requests, pod.Spec.Resources.Limits} {
		for name := range list {
			if podLevel(name) {
				return true
			}
		}
	}
	return false
}
