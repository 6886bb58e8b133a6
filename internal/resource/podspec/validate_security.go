package podspec

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/node/util/sysctl"

	"fairlead.dev/internal/resource/check"
)

func (v *validator) users(p *check.Path, user, group *int64) {
	if user != nil {
		v.Each(p.Child("runAsUser"), *user, validation.IsValidUserID(*user))
	}
	if group != nil {
		v.Each(p.Child("runAsGroup"), *group, validation.IsValidGroupID(*group))
	}
}

func (v *validator) podSecurity(p *check.Path) {
	s := v.spec.SecurityContext
	if s == nil {
		return
	}
	if s.FSGroup != nil {
		v.Each(p.Child("fsGroup"), *s.FSGroup, validation.IsValidGroupID(*s.FSGroup))
	}
	v.users(p, s.RunAsUser, s.RunAsGroup)
	for i, g := range s.SupplementalGroups {
		v.Each(p.Child("supplementalGroups").Index(i), g, validation.IsValidGroupID(g))
	}
	v.sysctls(p.Child("sysctls"), s.Sysctls)
	if s.FSGroupChangePolicy != nil {
		check.Known(v.Errors, p.Child("fsGroupChangePolicy"), *s.FSGroupChangePolicy, corev1.FSGroupChangeAlways, corev1.FSGroupChangeOnRootMismatch)
	}
	v.seccomp(p.Child("seccompProfile"), s.SeccompProfile)
	v.windowsOptions(p.Child("windowsOptions"), s.WindowsOptions)
	v.appArmor(p.Child("appArmorProfile"), s.AppArmorProfile)
	if s.SupplementalGroupsPolicy != nil {
		check.Known(v.Errors, p.Child("supplementalGroupsPolicy"), *s.SupplementalGroupsPolicy,
			corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict)
	}
	if s.SELinuxChangePolicy != nil {
		check.Known(v.Errors, p.Child("seLinuxChangePolicy"), *s.SELinuxChangePolicy,
			corev1.SELinuxChangePolicyMountOption, corev1.SELinuxChangePolicyRecursive)
	}
}

var sysctlName = regexp.MustCompile(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)

func (v *validator) sysctls(p *check.Path, list []corev1.Sysctl) {
	const maxLen = 253
	seen := map[string]bool{}
	for i, s := range list {
		at := p.Index(i).Child("name")
		switch {
		case s.Name == "":
			v.Required(at, "")
		case len(s.Name) > maxLen || !sysctlName.MatchString(s.Name):
			v.Invalid(at, s.Name, fmt.Sprintf("must have at most %d characters and match regex %s", maxLen, sysctlName))
		case seen[s.Name]:
			v.Duplicate(at, s.Name)
		}
		seen[s.Name] = true
		switch namespace, _, _ := sysctl.GetNamespace(s.Name); {
		case v.spec.HostNetwork && namespace == sysctl.NetNamespace:
			v.Invalid(at, s.Name, "may not be specified when 'hostNetwork' is true")
		case v.spec.HostIPC && namespace == sysctl.IPCNamespace:
			v.Invalid(at, s.Name, "may not be specified when 'hostIPC' is true")
		}
	}
}

func (v *validator) security(p *check.Path, s *corev1.SecurityContext) {
	if s == nil {
		return
	}
	v.users(p, s.RunAsUser, s.RunAsGroup)
	if s.ProcMount != nil {
		check.Known(v.Errors, p.Child("procMount"), *s.ProcMount, corev1.DefaultProcMount, corev1.UnmaskedProcMount)
		if *s.ProcMount == corev1.UnmaskedProcMount && (v.spec.HostUsers == nil || *v.spec.HostUsers) {
			v.Invalid(p.Child("procMount"), s.ProcMount, "`hostUsers` must be false to use `Unmasked`")
		}
	}
	v.seccomp(p.Child("seccompProfile"), s.SeccompProfile)
	if s.AllowPrivilegeEscalation != nil && !*s.AllowPrivilegeEscalation {
		if s.Privileged != nil && *s.Privileged {
			v.Invalid(p, s, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true")
		}
		if s.Capabilities != nil {
			for _, c := range s.Capabilities.Add {
				if c == "CAP_SYS_ADMIN" {
					v.Invalid(p, s, "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN")
				}
			}
		}
	}
	v.windowsOptions(p.Child("windowsOptions"), s.WindowsOptions)
	v.appArmor(p.Child("appArmorProfile"), s.AppArmorProfile)
}

func (v *validator) seccomp(p *check.Path, s *corev1.SeccompProfile) {
	if s == nil {
		return
	}
	if s.Type == "" {
		v.Required(p.Child("type"), "type is required when seccompProfile is set")
	} else {
		check.Known(v.Errors, p.Child("type"), s.Type,
			corev1.SeccompProfileTypeLocalhost, corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeUnconfined)
	}
	at := p.Child("localhostProfile")
	switch {
	case s.Type != corev1.SeccompProfileTypeLocalhost && s.LocalhostProfile != nil:
		v.Invalid(at, s, "can only be set when seccomp type is Localhost")
	case s.Type != corev1.SeccompProfileTypeLocalhost:
	case s.LocalhostProfile == nil:
		v.Required(at, "must be set when seccomp type is Localhost")
	default:
		v.Descending(at, *s.LocalhostProfile)
	}
}

func (v *validator) appArmor(p *check.Path, a *corev1.AppArmorProfile) {
	if a == nil {
		return
	}
	const maxLen = 4095
	at := p.Child("localhostProfile")
	switch a.Type {
	case corev1.AppArmorProfileTypeLocalhost:
		if a.LocalhostProfile == nil {
			v.Required(at, "must be set when AppArmor type is Localhost")
			return
		}
		trimmed := strings.TrimSpace(*a.LocalhostProfile)
		if trimmed != *a.LocalhostProfile {
			v.Invalid(at, *a.LocalhostProfile, "must not be padded with whitespace")
		} else if trimmed == "" {
			v.Required(at, "must be set when AppArmor type is Localhost")
		}
		if len(*a.LocalhostProfile) > maxLen {
			v.Add(field.TooLong(at.Field(), "", maxLen))
		}
	case corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined:
		if a.LocalhostProfile != nil {
			v.Invalid(at, a.LocalhostProfile, "can only be set when AppArmor type is Localhost")
		}
	case "":
		v.Required(p.Child("type"), "type is required when appArmorProfile is set")
	default:
		check.Known(v.Errors, p.Child("type"), a.Type,
			corev1.AppArmorProfileTypeLocalhost, corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined)
	}
}

func (v *validator) hostUsers(p *check.Path) {
	s := v.spec
	if s.HostUsers == nil || *s.HostUsers {
		return
	}
	const why = "when `hostUsers` is false"
	if s.HostNetwork {
		v.Forbidden(p.Child("hostNetwork"), why)
	}
	if s.HostPID {
		v.Forbidden(p.Child("HostPID"), why)
	}
	if s.HostIPC {
		v.Forbidden(p.Child("HostIPC"), why)
	}
	for n := range v.count() {
		c, list, i := v.nth(n)
		p := p.Child(list).Index(i)
		if len(c.VolumeDevices) > 0 {
			v.Forbidden(p.Child("volumeDevices"), why)
		}
	}
}

// os reports fields that the pod's operating system does not support.
func (v *validator) os(p *check.Path) {
	switch v.spec.OS.Name {
	case "":
		v.Required(p.Child("os", "name"), "")
	case corev1.Linux:
		const why = "windows options cannot be set for a linux pod"
		if s := v.spec.SecurityContext; s != nil && s.WindowsOptions != nil {
			v.Forbidden(p.Child("securityContext", "windowsOptions"), why)
		}
		for n := range v.count() {
			c, list, i := v.nth(n)
			p := p.Child(list).Index(i)
			if c.SecurityContext != nil && c.SecurityContext.WindowsOptions != nil {
				v.Forbidden(p.Child("securityContext", "windowsOptions"), why)
			}
		}
	case corev1.Windows:
		v.windows(p)
	default:
		check.Known(v.Errors, p.Child("os"), v.spec.OS.Name, corev1.Linux, corev1.Windows)
	}
}

func (v *validator) windows(p *check.Path) {
	no := func(p *check.Path, set bool) {
		if set {
			v.Forbidden(p, "cannot be set for a windows pod")
		}
	}
	spec := v.spec
	if s := spec.SecurityContext; s != nil {
		at := p.Child("securityContext")
		no(at.Child("appArmorProfile"), s.AppArmorProfile != nil)
		no(at.Child("seLinuxOptions"), s.SELinuxOptions != nil)
		no(p.Child("hostUsers"), spec.HostUsers != nil)
		no(p.Child("hostPID"), spec.HostPID)
		no(p.Child("hostIPC"), spec.HostIPC)
		no(at.Child("seccompProfile"), s.SeccompProfile != nil)
		no(at.Child("fsGroup"), s.FSGroup != nil)
		no(at.Child("fsGroupChangePolicy"), s.FSGroupChangePolicy != nil)
		no(at.Child("sysctls"), len(s.Sysctls) > 0)
		no(p.Child("shareProcessNamespace"), spec.ShareProcessNamespace != nil)
		no(at.Child("runAsUser"), s.RunAsUser != nil)
		no(at.Child("runAsGroup"), s.RunAsGroup != nil)
		no(at.Child("supplementalGroups"), s.SupplementalGroups != nil)
		no(at.Child("supplementalGroupsPolicy"), s.SupplementalGroupsPolicy != nil)
		no(at.Child("seLinuxChangePolicy"), s.SELinuxChangePolicy != nil)
	}
	for n := range v.count() {
		c, list, i := v.nth(n)
		p := p.Child(list).Index(i)
		s := c.SecurityContext
		if s == nil {
			continue
		}
		at := p.Child("securityContext")
		no(at.Child("appArmorProfile"), s.AppArmorProfile != nil)
		no(at.Child("seLinuxOptions"), s.SELinuxOptions != nil)
		no(at.Child("seccompProfile"), s.SeccompProfile != nil)
		no(at.Child("capabilities"), s.Capabilities != nil)
		no(at.Child("readOnlyRootFilesystem"), s.ReadOnlyRootFilesystem != nil)
		no(at.Child("privileged"), s.Privileged != nil)
		no(at.Child("allowPrivilegeEscalation"), s.AllowPrivilegeEscalation != nil)
		no(at.Child("procMount"), s.ProcMount != nil)
		no(at.Child("runAsUser"), s.RunAsUser != nil)
		no(at.Child("runAsGroup"), s.RunAsGroup != nil)
	}
}

// count returns the number of containers of all sorts.
func (v *validator) count() int {
	return len(v.spec.InitContainers) + len(v.spec.Containers) + len(v.spec.EphemeralContainers)
}

// nth returns one of them, init containers first, with its list and its index in that list.
func (v *validator) nth(i int) (c *corev1.Container, list string, at int) {
	if i < len(v.spec.InitContainers) {
		return &v.spec.InitContainers[i], "initContainers", i
	}
	i -= len(v.spec.InitContainers)
	if i < len(v.spec.Containers) {
		return &v.spec.Containers[i], "containers", i
	}
	i -= len(v.spec.Containers)
	return (*corev1.Container)(&v.spec.EphemeralContainers[i].EphemeralContainerCommon), "ephemeralContainers", i
}
