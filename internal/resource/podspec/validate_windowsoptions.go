package podspec

import (
	"regexp"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/internal/resource/check"
)

// windowsNames are the formats of user and domain names on Windows. Compiled, they take more memory than all others of pods, so
// they are compiled when first used.
type windowsNames struct{ control, netBIOS, domainDNS, reserved, onlyDots *regexp.Regexp }

var onWindows = sync.OnceValue(func() windowsNames {
	return windowsNames{
		control:   regexp.MustCompile(`[[:cntrl:]]+`),
		netBIOS:   regexp.MustCompile(`^[^\\/:\*\?"<>|\.][^\\/:\*\?"<>|]{0,14}$`),
		domainDNS: regexp.MustCompile(`^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$`),
		reserved:  regexp.MustCompile(`["/\\:;|=,\+\*\?<>@\[\]]`),
		onlyDots:  regexp.MustCompile(`^[\. ]+$`),
	}
})

func (v *validator) windowsOptions(p *check.Path, w *corev1.WindowsSecurityContextOptions) {
	if w == nil {
		return
	}
	if n := w.GMSACredentialSpecName; n != nil {
		v.Each(p.Child("gmsaCredentialSpecName"), n, validation.IsDNS1123Subdomain(*n))
	}
	if s := w.GMSACredentialSpec; s != nil {
		if *s == "" {
			v.Invalid(p.Child("gmsaCredentialSpec"), s, "gmsaCredentialSpec cannot be an empty string")
		} else if len(*s) > 64*1024 {
			v.Invalid(p.Child("gmsaCredentialSpec"), s, "gmsaCredentialSpec size must be under 64 KiB")
		}
	}
	if w.RunAsUserName != nil {
		v.windowsUser(p.Child("runAsUserName"), *w.RunAsUserName)
	}
}

func (v *validator) windowsUser(p *check.Path, name string) {
	const maxName, maxDomain = 104, 256
	if name == "" {
		v.Invalid(p, name, "runAsUserName cannot be an empty string")
		return
	}
	if onWindows().control.MatchString(name) {
		v.Invalid(p, name, "runAsUserName cannot contain control characters")
		return
	}
	parts := strings.Split(name, "\\")
	if len(parts) > 2 {
		v.Invalid(p, name, "runAsUserName cannot contain more than one backslash")
		return
	}
	user := parts[len(parts)-1]
	if len(parts) == 2 {
		if len(parts[0]) >= maxDomain {
			v.Invalid(p, name, "runAsUserName's Domain length must be under 256 characters")
		}
		if !onWindows().netBIOS.MatchString(parts[0]) && !onWindows().domainDNS.MatchString(parts[0]) {
			v.Invalid(p, name, "runAsUserName's Domain doesn't match the NetBios nor the DNS format")
		}
	}
	if user == "" {
		v.Invalid(p, name, "runAsUserName's User cannot be empty")
	} else if len(user) > maxName {
		v.Invalid(p, name, "runAsUserName's User length must not be longer than 104 characters")
	}
	if onWindows().onlyDots.MatchString(user) {
		v.Invalid(p, name, "runAsUserName's User cannot contain only periods or spaces")
	}
	if onWindows().reserved.MatchString(user) {
		v.Invalid(p, name, `runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[]`)
	}
}

// hostProcess requires all containers of a pod to agree on being host processes.
func (v *validator) hostProcess(p *check.Path) {
	of := func(w *corev1.WindowsSecurityContextOptions) *bool {
		if w == nil {
			return nil
		}
		return w.HostProcess
	}
	var whole *bool
	if s := v.spec.SecurityContext; s != nil {
		whole = of(s.WindowsOptions)
	}
	all, host := 0, 0
	for n := range v.count() {
		c, list, i := v.nth(n)
		p := p.Child(list).Index(i)
		all++
		var own *bool
		if c.SecurityContext != nil {
			own = of(c.SecurityContext.WindowsOptions)
		}
		if whole != nil && own != nil && *whole != *own {
			text := "false"
			if *whole {
				text = "true"
			}
			v.Invalid(p.Child("securityContext", "windowsOptions", "hostProcess"), *own, "pod hostProcess value must be identical if both are specified, was "+text)
		}
		if own != nil && *own || own == nil && whole != nil && *whole {
			host++
		}
	}
	if host == 0 {
		return
	}
	if host != all {
		v.Invalid(p, "", "If pod contains any hostProcess containers then all containers must be HostProcess containers")
	}
	if !v.spec.HostNetwork {
		v.Invalid(p.Child("hostNetwork"), false, "hostNetwork must be true if pod contains any hostProcess containers")
	}
}
