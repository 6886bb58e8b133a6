package podspec

import (
	"fmt"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/resource/check"
)

// containers examines each container, and then the ports of all of them.
func (w *warner) containers(at, p *check.Path) {
	v := validator{spec: w.spec}
	for n := range v.count() {
		c, list, i := v.nth(n)
		p := p.Child(list).Index(i)
		w.seccomp(at.Child("metadata", "annotations"), corev1.SeccompContainerAnnotationKeyPrefix+c.Name,
			c.SecurityContext != nil && c.SecurityContext.SeccompProfile != nil)
		if at != nil {
			w.appArmor(at.Child("metadata", "annotations"), c)
		}
		w.fractionalBytes(p.Child("resources", "limits"), c.Resources.Limits)
		w.fractionalBytes(p.Child("resources", "requests"), c.Resources.Requests)
		w.environment(p.Child("env"), c.Env)
	}
	w.ports(&v, p)
}

// appArmor warns of an annotation that disagrees with the fields.
func (w *warner) appArmor(p *check.Path, c *corev1.Container) {
	key := corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix + c.Name
	value, ok := w.meta.Annotations[key]
	if !ok || c.SecurityContext != nil && c.SecurityContext.AppArmorProfile != nil {
		return
	}
	var whole *corev1.AppArmorProfile
	if s := w.spec.SecurityContext; s != nil {
		whole = s.AppArmorProfile
	}
	if whole == nil || !reflect.DeepEqual(whole, profileOf(value)) {
		w.warn(`%s: deprecated since v1.30; use the "appArmorProfile" field instead`, p.Key(key).String())
	}
}

// profileOf returns the profile that an annotation names, or nil.
func profileOf(annotation string) *corev1.AppArmorProfile {
	local, isLocal := strings.CutPrefix(annotation, corev1.DeprecatedAppArmorBetaProfileNamePrefix)
	switch {
	case annotation == corev1.DeprecatedAppArmorBetaProfileNameUnconfined:
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined}
	case annotation == corev1.DeprecatedAppArmorBetaProfileRuntimeDefault:
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault}
	case isLocal && local != "":
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeLocalhost, LocalhostProfile: &local}
	}
	return nil
}

// environment warns of a variable that overrides one of the same name without using it.
func (w *warner) environment(p *check.Path, env []corev1.EnvVar) {
	seen := map[string]bool{}
	for i, e := range env {
		use := "$(" + e.Name + ")"
		if seen[e.Name] && (e.ValueFrom != nil || e.Value == use || !strings.Contains(e.Value, use)) {
			w.warn("%s: hides previous definition of %q, which may be dropped when using apply", p.Index(i).String(), e.Name)
		}
		seen[e.Name] = true
	}
}

// ports warns of conflicting ports.
func (w *warner) ports(v *validator, p *check.Path) {
	type number struct {
		port     int32
		protocol corev1.Protocol
	}
	type place struct {
		path *check.Path
		port corev1.ContainerPort
	}
	all, named := map[number][]place{}, map[string]*check.Path{}
	var names []string
	for n := range v.count() {
		c, list, i := v.nth(n)
		p := p.Child(list).Index(i)
		for i, port := range c.Ports {
			at := p.Child("ports").Index(i)
			if port.HostIP != "" && port.HostPort == 0 {
				w.warn("%s: hostIP set without hostPort: %+v", at, port)
			}
			key := number{port.ContainerPort, port.Protocol}
			for _, other := range all[key] {
				o := other.port
				switch {
				case port.HostIP == o.HostIP && port.HostPort == o.HostPort:
					w.warn("%s: duplicate port definition with %s", at, other.path)
				case port.HostPort == 0 || o.HostPort == 0:
					w.warn("%s: overlapping port definition with %s", at, other.path)
				case port.HostPort == o.HostPort && (port.HostIP == "") != (o.HostIP == ""):
					w.warn("%s: dangerously ambiguous port definition with %s", at, other.path)
				}
			}
			all[key] = append(all[key], place{at, port})
			if port.Name == "" {
				continue
			}
			if other, ok := named[port.Name]; ok {
				names = append(names, fmt.Sprintf("%s: duplicate port name %q with %s, services and probes that select ports by name will use %[3]s", at, port.Name, other))
			} else {
				named[port.Name] = at
			}
		}
	}
	w.list = append(w.list, names...)
}
