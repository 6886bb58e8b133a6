package podspec

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/resource/plain"
)

// Warnings says what is odd about a new pod, though not wrong.
func Warnings(p *corev1.Pod) []string {
	var out []string
	if !plain.Label(p.Name) {
		out = append(out, fmt.Sprintf("metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: %v", validation.IsDNS1123Label(p.Name)))
	}
	return append(out, specWarnings(field.NewPath("spec"), &p.Spec)...)
}

// TemplateWarnings says what is odd about a pod template, though not wrong.
func TemplateWarnings(t *corev1.PodTemplateSpec, p *field.Path) []string {
	return specWarnings(p.Child("spec"), &t.Spec)
}

// movedLabels are node labels with a newer name.
var movedLabels = map[string]string{
	"beta.kubernetes.io/arch":                  "kubernetes.io/arch",
	"beta.kubernetes.io/os":                    "kubernetes.io/os",
	"failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
	"failure-domain.beta.kubernetes.io/zone":   "topology.kubernetes.io/zone",
	"beta.kubernetes.io/instance-type":         "node.kubernetes.io/instance-type",
}

func specWarnings(p *field.Path, s *corev1.PodSpec) []string {
	var out []string
	warn := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for key := range s.NodeSelector {
		if now, ok := movedLabels[key]; ok {
			warn("%s: deprecated since %s; use %q instead", p.Child("nodeSelector").Key(key), since(key), now)
		}
	}
	secrets := map[string]bool{}
	for i, r := range s.ImagePullSecrets {
		at := p.Child("imagePullSecrets").Index(i)
		switch {
		case r.Name == "":
			warn("%s: invalid empty name %q", at.Child("name"), r.Name)
		case secrets[r.Name]:
			warn("%s: duplicate name %q", at, r.Name)
		}
		secrets[r.Name] = true
	}
	for i := range s.Volumes {
		if s.Volumes[i].GitRepo != nil {
			warn("%s: deprecated in v1.11, and disabled by default in v1.33+", p.Child("volumes").Index(i).Child("gitRepo"))
		}
	}
	hosts := map[string]bool{}
	for i, a := range s.HostAliases {
		if hosts[a.IP] {
			warn("%s: duplicate ip %q", p.Child("hostAliases").Index(i).Child("ip"), a.IP)
		}
		hosts[a.IP] = true
	}
	v := validator{spec: s}
	v.eachContainer(p, func(p *field.Path, c *corev1.Container) {
		env := map[string]bool{}
		for i, e := range c.Env {
			if env[e.Name] {
				warn("%s: hides previous definition of %q, which may be dropped when using apply", p.Child("env").Index(i), e.Name)
			}
			env[e.Name] = true
		}
		ports := map[string]bool{}
		for i, port := range c.Ports {
			k := fmt.Sprintf("%d/%s/%d/%s", port.ContainerPort, port.Protocol, port.HostPort, port.HostIP)
			if ports[k] {
				warn("%s: duplicate port definition with %s", p.Child("ports").Index(i), p.Child("ports"))
			}
			ports[k] = true
		}
	})
	return out
}

func since(label string) string {
	switch label {
	case "beta.kubernetes.io/arch", "beta.kubernetes.io/os":
		return "v1.14"
	}
	return "v1.17"
}
