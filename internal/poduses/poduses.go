// Package poduses lists the objects that a pod uses, by kind: their names, in the pod's namespace.
package poduses

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Claims returns the names of the PersistentVolumeClaims that the pod uses, those of its ephemeral volumes included.
func Claims(p *corev1.Pod) (names []string) {
	for _, v := range p.Spec.Volumes {
		switch {
		case v.PersistentVolumeClaim != nil:
			names = append(names, v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil:
			names = append(names, p.Name+"-"+v.Name)
		}
	}
	return names
}

// Secrets returns the names of the Secrets to which the pod itself refers.
func Secrets(p *corev1.Pod) (names []string) {
	for _, s := range p.Spec.ImagePullSecrets {
		names = append(names, s.Name)
	}
	environments(p, func(from []corev1.EnvFromSource, env []corev1.EnvVar) {
		for _, f := range from {
			if f.SecretRef != nil {
				names = append(names, f.SecretRef.Name)
			}
		}
		for _, e := range env {
			if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
				names = append(names, e.ValueFrom.SecretKeyRef.Name)
			}
		}
	})
	for _, v := range p.Spec.Volumes {
		names = append(names, volumeSecrets(v)...)
	}
	return slices.DeleteFunc(names, empty)
}

func empty(name string) bool { return name == "" }

// volumeSecrets returns the secrets of a volume of any type.
func volumeSecrets(v corev1.Volume) (names []string) {
	local := func(r *corev1.LocalObjectReference) {
		if r != nil {
			names = append(names, r.Name)
		}
	}
	switch {
	case v.Secret != nil:
		names = append(names, v.Secret.SecretName)
	case v.Projected != nil:
		for _, s := range v.Projected.Sources {
			if s.Secret != nil {
				names = append(names, s.Secret.Name)
			}
		}
	case v.AzureFile != nil:
		names = append(names, v.AzureFile.SecretName)
	case v.CephFS != nil:
		local(v.CephFS.SecretRef)
	case v.Cinder != nil:
		local(v.Cinder.SecretRef)
	case v.FlexVolume != nil:
		local(v.FlexVolume.SecretRef)
	case v.RBD != nil:
		local(v.RBD.SecretRef)
	case v.ScaleIO != nil:
		local(v.ScaleIO.SecretRef)
	case v.ISCSI != nil:
		local(v.ISCSI.SecretRef)
	case v.StorageOS != nil:
		local(v.StorageOS.SecretRef)
	case v.CSI != nil:
		local(v.CSI.NodePublishSecretRef)
	}
	return names
}

// ConfigMaps returns the names of the ConfigMaps to which the pod refers.
func ConfigMaps(p *corev1.Pod) (names []string) {
	environments(p, func(from []corev1.EnvFromSource, env []corev1.EnvVar) {
		for _, f := range from {
			if f.ConfigMapRef != nil {
				names = append(names, f.ConfigMapRef.Name)
			}
		}
		for _, e := range env {
			if e.ValueFrom != nil && e.ValueFrom.ConfigMapKeyRef != nil {
				names = append(names, e.ValueFrom.ConfigMapKeyRef.Name)
			}
		}
	})
	for _, v := range p.Spec.Volumes {
		if v.ConfigMap != nil {
			names = append(names, v.ConfigMap.Name)
		}
		if v.Projected != nil {
			for _, s := range v.Projected.Sources {
				if s.ConfigMap != nil {
					names = append(names, s.ConfigMap.Name)
				}
			}
		}
	}
	return slices.DeleteFunc(names, empty)
}

// environments calls f for each container of each sort.
func environments(p *corev1.Pod, f func([]corev1.EnvFromSource, []corev1.EnvVar)) {
	for _, c := range p.Spec.InitContainers {
		f(c.EnvFrom, c.Env)
	}
	for _, c := range p.Spec.Containers {
		f(c.EnvFrom, c.Env)
	}
	for _, c := range p.Spec.EphemeralContainers {
		f(c.EnvFrom, c.Env)
	}
}

// ResourceClaims returns the names of the ResourceClaims that a pod names, and of those generated for it.
func ResourceClaims(p *corev1.Pod) (names []string) {
	for _, c := range p.Spec.ResourceClaims {
		if c.ResourceClaimName != nil {
			names = append(names, *c.ResourceClaimName)
			continue
		}
		for _, s := range p.Status.ResourceClaimStatuses {
			if s.Name == c.Name && s.ResourceClaimName != nil {
				names = append(names, *s.ResourceClaimName)
			}
		}
	}
	if s := p.Status.ExtendedResourceClaimStatus; s != nil {
		names = append(names, s.ResourceClaimName)
	}
	return names
}
