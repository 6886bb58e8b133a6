package podspec

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/plain"
)

// Warnings returns warnings about a new pod.
func Warnings(p *corev1.Pod) []string {
	w := warner{meta: &p.ObjectMeta, spec: &p.Spec}
	if !plain.Label(p.Name) {
		w.warn("metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: %v", validation.IsDNS1123Label(p.Name))
	}
	w.pod(nil)
	return w.list
}

// TemplateWarnings returns warnings about a pod template.
func TemplateWarnings(t *corev1.PodTemplateSpec, p *check.Path) []string {
	w := warner{meta: &t.ObjectMeta, spec: &t.Spec}
	w.pod(p)
	return w.list
}

// warner collects warnings about a pod or a template.
type warner struct {
	meta *metav1.ObjectMeta
	spec *corev1.PodSpec
	list []string
}

func (w *warner) warn(format string, args ...any) {
	w.list = append(w.list, fmt.Sprintf(format, args...))
}

// pod examines the pod or template at the path; the path of a pod is nil.
func (w *warner) pod(at *check.Path) {
	p, s := at.Child("spec"), w.spec
	w.nodes(p)
	w.annotations(at.Child("metadata", "annotations"))
	w.volumes(p.Child("volumes"))
	w.names(p)
	w.fractionalBytes(p.Child("overhead"), s.Overhead)
	w.seccomp(at.Child("metadata", "annotations"), corev1.SeccompPodAnnotationKey, s.SecurityContext != nil && s.SecurityContext.SeccompProfile != nil)
	w.containers(at, p)
	if n := s.TerminationGracePeriodSeconds; n != nil && *n < 0 {
		w.warn("%s: must be >= 0; negative values are invalid and will be treated as 1", p.Child("terminationGracePeriodSeconds").String())
	}
	w.affinities(p.Child("affinity"))
	w.addresses(p)
}

// annotations warns of annotations without effect.
func (w *warner) annotations(p *check.Path) {
	for _, old := range []struct{ key, why string }{
		{"scheduler.alpha.kubernetes.io/critical-pod", `non-functional in v1.16+; use the "priorityClassName" field instead`},
		{"security.alpha.kubernetes.io/sysctls", `non-functional in v1.11+; use the "sysctls" field instead`},
		{"security.alpha.kubernetes.io/unsafe-sysctls", `non-functional in v1.11+; use the "sysctls" field instead`},
	} {
		if _, ok := w.meta.Annotations[old.key]; ok {
			w.warn("%s: %s", p.Key(old.key).String(), old.why)
		}
	}
}

// names warns of duplicates in lists of names.
func (w *warner) names(p *check.Path) {
	var hosts, secrets []string
	for i, a := range w.spec.HostAliases {
		if slices.Contains(hosts, a.IP) {
			w.warn("%s: duplicate ip %q", p.Child("hostAliases").Index(i).Child("ip").String(), a.IP)
		}
		hosts = append(hosts, a.IP)
	}
	for i, r := range w.spec.ImagePullSecrets {
		if slices.Contains(secrets, r.Name) {
			w.warn("%s: duplicate name %q", p.Child("imagePullSecrets").Index(i).Child("name").String(), r.Name)
		}
		secrets = append(secrets, r.Name)
	}
	for i, r := range w.spec.ImagePullSecrets {
		if r.Name == "" {
			w.warn("%s: invalid empty name %q", p.Child("imagePullSecrets").Index(i).Child("name").String(), r.Name)
		}
	}
}

// fractionalBytes warns of fractional bytes.
func (w *warner) fractionalBytes(p *check.Path, list corev1.ResourceList) {
	for _, name := range []corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		if q, ok := list[name]; ok && q.MilliValue()%1000 != 0 {
			w.warn("%s: fractional byte value %q is invalid, must be an integer", p.Key(string(name)).String(), q.String())
		}
	}
}

// seccomp warns of an annotation in place of the field.
func (w *warner) seccomp(p *check.Path, key string, hasField bool) {
	if _, ok := w.meta.Annotations[key]; ok && !hasField {
		w.warn(`%s: non-functional in v1.27+; use the "seccompProfile" field instead`, p.Key(key).String())
	}
}

// addresses warns of addresses in a non-canonical form.
func (w *warner) addresses(p *check.Path) {
	if d := w.spec.DNSConfig; d != nil {
		for i, ip := range d.Nameservers {
			w.list = append(w.list, validation.GetWarningsForIP(p.Child("dnsConfig", "nameservers").Index(i).Field(), ip)...)
		}
	}
	for i, a := range w.spec.HostAliases {
		w.list = append(w.list, validation.GetWarningsForIP(p.Child("hostAliases").Index(i).Child("ip").Field(), a.IP)...)
	}
}
