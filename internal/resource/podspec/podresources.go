package podspec

import corev1 "k8s.io/api/core/v1"

// CompletePodResources completes pod-level requests and limits, if there are any, from those of the containers. It is
// for the time after admission, which may add containers.
func CompletePodResources(s *corev1.PodSpec) {
	r := s.Resources
	if r == nil || len(r.Limits) == 0 && len(r.Requests) == 0 {
		return
	}
	limits := sum(s, func(c *corev1.Container) corev1.ResourceList { return c.Resources.Limits })
	completeHugePages(r, limits)
	completeRequests(s)
	for name, request := range r.Requests {
		limit, ok := limits[name]
		if _, set := r.Limits[name]; set || !ok || !podLevel(name) || !limited(s, name) {
			continue
		}
		if limit.Cmp(request) < 0 {
			limit = request
		}
		if r.Limits == nil {
			r.Limits = corev1.ResourceList{}
		}
		r.Limits[name] = limit.DeepCopy()
	}
}

// DefaultPodResources is CompletePodResources before Kubernetes 1.37: a default of a pod as it is sent, of no limits
// but those of huge pages, and of no requests without limits.
func DefaultPodResources(s *corev1.PodSpec) {
	r := s.Resources
	if r == nil || len(r.Limits) == 0 && len(r.Requests) == 0 {
		return
	}
	completeHugePages(r, sum(s, func(c *corev1.Container) corev1.ResourceList { return c.Resources.Limits }))
	if len(r.Limits) > 0 {
		completeRequests(s)
	}
}

// completeHugePages adds the limits of the containers to those of the pod.
func completeHugePages(r *corev1.ResourceRequirements, limits corev1.ResourceList) {
	for name, amount := range limits {
		_, limited := r.Limits[name]
		_, requested := r.Requests[name]
		if isHugePages(name) && !limited && !requested {
			if r.Limits == nil {
				r.Limits = corev1.ResourceList{}
			}
			r.Limits[name] = amount
		}
	}
}

// completeRequests adds the requests of the containers, and else the limits of the pod, to the requests of the pod.
func completeRequests(s *corev1.PodSpec) {
	r := s.Resources
	requests := r.Requests
	if requests == nil {
		requests = corev1.ResourceList{}
	}
	for name, amount := range sum(s, func(c *corev1.Container) corev1.ResourceList { return c.Resources.Requests }) {
		if _, set := requests[name]; !set && podLevel(name) && !isHugePages(name) {
			requests[name] = amount
		}
	}
	for name, amount := range r.Limits {
		if _, set := requests[name]; !set && podLevel(name) {
			requests[name] = amount.DeepCopy()
		}
	}
	if len(requests) > 0 {
		r.Requests = requests
	}
}

// limited reports whether all containers, but for ephemeral ones, have a limit of a resource.
func limited(s *corev1.PodSpec, name corev1.ResourceName) bool {
	for _, containers := range [][]corev1.Container{s.Containers, s.InitContainers} {
		for i := range containers {
			if _, ok := containers[i].Resources.Limits[name]; !ok {
				return false
			}
		}
	}
	return true
}
