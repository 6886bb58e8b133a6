package podsecurity

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"

	"fairlead.dev/internal/server/admission"
)

// The reasons of exemptions, as annotations of audit events have them.
const (
	exemptNamespace    = "namespace"
	exemptUser         = "user"
	exemptRuntimeClass = "runtimeClass"
)

// exempt returns why a request is exempt, or "".
func (p Plugin) exempt(r *admission.Request, spec *corev1.PodSpec) string {
	switch {
	case p.exemptsNamespace(r.Namespace):
		return exemptNamespace
	case slices.Contains(p.exemptions.Usernames, r.User.Name):
		return exemptUser
	case p.exemptsClass(spec):
		return exemptRuntimeClass
	}
	return ""
}

func (p Plugin) exemptsNamespace(name string) bool {
	return slices.Contains(p.exemptions.Namespaces, name)
}

func (p Plugin) exemptsClass(spec *corev1.PodSpec) bool {
	return spec.RuntimeClassName != nil && slices.Contains(p.exemptions.RuntimeClasses, *spec.RuntimeClassName)
}

// warnOfExemption warns that the labels of an exempt namespace have no effect.
func (p Plugin) warnOfExemption(r *admission.Request, ns *corev1.Namespace, levels api.Policy) {
	if !p.exemptsNamespace(ns.Name) || levels.FullyPrivileged() || levels.Equivalent(&p.defaults) || r.Warn == nil {
		return
	}
	var set []string
	for _, mode := range []struct {
		name, level, version string
		lv                   api.LevelVersion
	}{
		{"enforce", api.EnforceLevelLabel, api.EnforceVersionLabel, levels.Enforce},
		{"audit", api.AuditLevelLabel, api.AuditVersionLabel, levels.Audit},
		{"warn", api.WarnLevelLabel, api.WarnVersionLabel, levels.Warn},
	} {
		_, level := ns.Labels[mode.level]
		_, version := ns.Labels[mode.version]
		if mode.lv.Level != api.LevelPrivileged && (level || version) {
			set = append(set, mode.name+"="+mode.lv.String())
		}
	}
	r.Warn(fmt.Sprintf("namespace %q is exempt from Pod Security, and the policy (%s) will be ignored", ns.Name, strings.Join(set, ", ")))
}
