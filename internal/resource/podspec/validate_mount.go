package podspec

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/resource/check"
)

func (v *validator) mounts(p *check.Path, c *corev1.Container) {
	devices, devicePaths := map[string]bool{}, map[string]bool{}
	for _, d := range c.VolumeDevices {
		devices[d.Name], devicePaths[d.DevicePath] = true, true
	}
	taken := map[string]bool{}
	for i := range c.VolumeMounts {
		m, at := &c.VolumeMounts[i], p.Index(i)
		v.required(at.Child("name"), m.Name)
		if v.volumes[m.Name] == nil {
			v.NotFound(at.Child("name"), m.Name)
		}
		v.required(at.Child("mountPath"), m.MountPath)
		if taken[m.MountPath] {
			v.Invalid(at.Child("mountPath"), m.MountPath, "must be unique")
		}
		taken[m.MountPath] = true
		if devices[m.Name] {
			v.Invalid(at.Child("name"), m.Name, "must not already exist in volumeDevices")
		}
		if devicePaths[m.MountPath] {
			v.Invalid(at.Child("mountPath"), m.MountPath, "must not already exist as a path in volumeDevices")
		}
		if m.SubPath != "" {
			v.Descending(p.Child("subPath"), m.SubPath)
		}
		if m.SubPathExpr != "" {
			if m.SubPath != "" {
				v.Invalid(at.Child("subPathExpr"), m.SubPathExpr, "subPathExpr and subPath are mutually exclusive")
			}
			v.Descending(p.Child("subPathExpr"), m.SubPathExpr)
		}
		v.propagation(p.Child("mountPropagation"), m.MountPropagation, c)
		v.recursiveReadOnly(p.Child("recursiveReadOnly"), m)
	}
}

func (v *validator) propagation(p *check.Path, mode *corev1.MountPropagationMode, c *corev1.Container) {
	if mode == nil {
		return
	}
	check.Known(v.Errors, p, *mode, corev1.MountPropagationBidirectional, corev1.MountPropagationHostToContainer, corev1.MountPropagationNone)
	privileged := c.SecurityContext != nil && c.SecurityContext.Privileged != nil && *c.SecurityContext.Privileged
	if *mode == corev1.MountPropagationBidirectional && !privileged {
		v.Forbidden(p, "Bidirectional mount propagation is available only to privileged containers")
	}
}

func (v *validator) recursiveReadOnly(p *check.Path, m *corev1.VolumeMount) {
	if m.RecursiveReadOnly == nil {
		return
	}
	switch mode := *m.RecursiveReadOnly; mode {
	case corev1.RecursiveReadOnlyDisabled:
	case corev1.RecursiveReadOnlyEnabled, corev1.RecursiveReadOnlyIfPossible:
		if !m.ReadOnly {
			v.Forbidden(p, "may only be specified when readOnly is true")
		}
		if m.MountPropagation != nil && *m.MountPropagation != corev1.MountPropagationNone {
			v.Forbidden(p, "may only be specified when mountPropagation is None or not specified")
		}
	default:
		check.Known(v.Errors, p, mode, corev1.RecursiveReadOnlyDisabled, corev1.RecursiveReadOnlyEnabled, corev1.RecursiveReadOnlyIfPossible)
	}
}

func (v *validator) devices(p *check.Path, c *corev1.Container) {
	mounts, mountPaths := map[string]bool{}, map[string]bool{}
	for _, m := range c.VolumeMounts {
		mounts[m.Name], mountPaths[m.MountPath] = true, true
	}
	names, paths := map[string]bool{}, map[string]bool{}
	for i, d := range c.VolumeDevices {
		at := p.Index(i)
		v.required(at.Child("name"), d.Name)
		if names[d.Name] {
			v.Invalid(at.Child("name"), d.Name, "must be unique")
		}
		switch s := v.volumes[d.Name]; {
		case s == nil:
			v.NotFound(at.Child("name"), d.Name)
		case s.PersistentVolumeClaim == nil && s.Ephemeral == nil:
			v.Invalid(at.Child("name"), d.Name, "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode")
		}
		v.required(at.Child("devicePath"), d.DevicePath)
		if paths[d.DevicePath] {
			v.Invalid(at.Child("devicePath"), d.DevicePath, "must be unique")
		}
		if hasBackstep(d.DevicePath) {
			v.Invalid(at.Child("devicePath"), d.DevicePath, "can not contain backsteps ('..')")
		} else {
			paths[d.DevicePath] = true
		}
		if mounts[d.Name] {
			v.Invalid(at.Child("name"), d.Name, "must not already exist in volumeMounts")
		}
		if mountPaths[d.DevicePath] {
			v.Invalid(at.Child("devicePath"), d.DevicePath, "must not already exist as a path in volumeMounts")
		}
		if d.Name != "" {
			names[d.Name] = true
		}
	}
}

func hasBackstep(path string) bool {
	for _, part := range strings.Split(path, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}
