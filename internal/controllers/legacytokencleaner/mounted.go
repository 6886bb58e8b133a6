package legacytokencleaner

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// mounted reports whether a pod of the namespace uses a Secret.
func (c *cleaner) mounted(s *corev1.Secret) bool {
	return slices.ContainsFunc(c.pods.Store().List(s.Namespace), func(p *corev1.Pod) bool { return uses(&p.Spec, s.Name) })
}

// uses reports whether a pod uses a Secret: to pull images, for the environment of a container, or for a volume.
func uses(p *corev1.PodSpec, secret string) bool {
	named := func(r corev1.LocalObjectReference) bool { return r.Name == secret }
	environment := func(env []corev1.EnvVar, from []corev1.EnvFromSource) bool {
		return slices.ContainsFunc(env, func(e corev1.EnvVar) bool {
			return e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil && named(e.ValueFrom.SecretKeyRef.LocalObjectReference)
		}) || slices.ContainsFunc(from, func(e corev1.EnvFromSource) bool {
			return e.SecretRef != nil && named(e.SecretRef.LocalObjectReference)
		})
	}
	container := func(c corev1.Container) bool { return environment(c.Env, c.EnvFrom) }
	return slices.ContainsFunc(p.ImagePullSecrets, named) ||
		slices.ContainsFunc(p.InitContainers, container) || slices.ContainsFunc(p.Containers, container) ||
		slices.ContainsFunc(p.EphemeralContainers, func(c corev1.EphemeralContainer) bool { return environment(c.Env, c.EnvFrom) }) ||
		slices.ContainsFunc(p.Volumes, func(v corev1.Volume) bool { return slices.Contains(ofVolume(&v.VolumeSource), secret) })
}

// ofVolume returns the names of a volume's Secrets.
func ofVolume(v *corev1.VolumeSource) (names []string) {
	add := func(r *corev1.LocalObjectReference) {
		if r != nil {
			names = append(names, r.Name)
		}
	}
	switch {
	case v.Secret != nil:
		names = append(names, v.Secret.SecretName)
	case v.Projected != nil:
		for i := range v.Projected.Sources {
			if s := v.Projected.Sources[i].Secret; s != nil {
				add(&s.LocalObjectReference)
			}
		}
	case v.CSI != nil:
		add(v.CSI.NodePublishSecretRef)
	case v.AzureFile != nil:
		names = append(names, v.AzureFile.SecretName)
	case v.CephFS != nil:
		add(v.CephFS.SecretRef)
	case v.Cinder != nil:
		add(v.Cinder.SecretRef)
	case v.FlexVolume != nil:
		add(v.FlexVolume.SecretRef)
	case v.RBD != nil:
		add(v.RBD.SecretRef)
	case v.ScaleIO != nil:
		add(v.ScaleIO.SecretRef)
	case v.ISCSI != nil:
		add(v.ISCSI.SecretRef)
	case v.StorageOS != nil:
		add(v.StorageOS.SecretRef)
	}
	return names
}
