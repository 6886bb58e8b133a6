package gates

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// A gatedPart is a part of a type, guarded by a gate, that is not just a field.
type gatedPart struct {
	gate string
	of   reflect.Type
	uses func(any) bool // whether the value, a pointer to one of the type, has the part
	drop func(any)
}

// parts lists the gated parts.
var parts = []gatedPart{
	{
		// As kube-apiserver, drop the volumes themselves, and their mounts.
		"ImageVolume", reflect.TypeFor[corev1.PodSpec](),
		func(v any) bool { return slices.ContainsFunc(v.(*corev1.PodSpec).Volumes, isImage) },
		func(v any) { dropImageVolumes(v.(*corev1.PodSpec)) },
	},
	{
		"ContainerRestartRules", reflect.TypeFor[corev1.PodSpec](),
		func(v any) bool { return restartPolicies(v.(*corev1.PodSpec), false) },
		func(v any) { restartPolicies(v.(*corev1.PodSpec), true) },
	},
}

func isImage(v corev1.Volume) bool { return v.Image != nil }

func dropImageVolumes(s *corev1.PodSpec) {
	images := map[string]bool{}
	s.Volumes = slices.DeleteFunc(s.Volumes, func(v corev1.Volume) bool {
		if isImage(v) {
			images[v.Name] = true
		}
		return isImage(v)
	})
	unmount := func(mounts *[]corev1.VolumeMount) {
		*mounts = slices.DeleteFunc(*mounts, func(m corev1.VolumeMount) bool { return images[m.Name] })
	}
	for i := range s.InitContainers {
		unmount(&s.InitContainers[i].VolumeMounts)
	}
	for i := range s.Containers {
		unmount(&s.Containers[i].VolumeMounts)
	}
	for i := range s.EphemeralContainers {
		unmount(&s.EphemeralContainers[i].VolumeMounts)
	}
}

// restartPolicies reports whether a container has a restart policy, other than that of a sidecar, and clears those.
func restartPolicies(s *corev1.PodSpec, clear bool) (found bool) {
	visit := func(policy **corev1.ContainerRestartPolicy) {
		found = found || *policy != nil
		if clear {
			*policy = nil
		}
	}
	for i := range s.InitContainers {
		if p := &s.InitContainers[i].RestartPolicy; *p != nil && **p != corev1.ContainerRestartPolicyAlways {
			visit(p)
		}
	}
	for i := range s.Containers {
		visit(&s.Containers[i].RestartPolicy)
	}
	for i := range s.EphemeralContainers {
		visit(&s.EphemeralContainers[i].RestartPolicy)
	}
	return found
}
