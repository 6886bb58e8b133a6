package podspec

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/plain"
)

func (v *validator) containers(p *check.Path) {
	if len(v.spec.Containers) == 0 {
		v.Required(p, "")
		return
	}
	names := map[string]bool{}
	for i := range v.spec.Containers {
		c, at := &v.spec.Containers[i], p.Index(i)
		v.container(at, c)
		if names[c.Name] {
			v.Duplicate(at.Child("name"), c.Name)
		}
		names[c.Name] = true
		v.lifecycle(at.Child("lifecycle"), c.Lifecycle)
		v.probes(at, c)
		v.restartRules(at, c)
	}
	v.hostPortConflicts(p, v.spec.Containers)
}

func (v *validator) initContainers(p *check.Path) {
	names := map[string]bool{}
	for i := range v.spec.Containers {
		names[v.spec.Containers[i].Name] = true
	}
	const onlyBeside = "may not be set for init containers without restartPolicy=Always"
	for i := range v.spec.InitContainers {
		c, at := &v.spec.InitContainers[i], p.Index(i)
		v.container(at, c)
		if c.RestartPolicy == nil && len(c.RestartPolicyRules) > 0 {
			v.Required(at.Child("restartPolicy"), "must specify restartPolicy when restart rules are used")
		} else {
			v.restartRules(at, c)
		}
		if names[c.Name] {
			v.Duplicate(at.Child("name"), c.Name)
		} else if c.Name != "" {
			names[c.Name] = true
		}
		v.hostPortConflicts(p, v.spec.InitContainers[i:i+1])
		if restarts(c) {
			v.lifecycle(at.Child("lifecycle"), c.Lifecycle)
			v.probes(at, c)
			continue
		}
		if c.Lifecycle != nil {
			v.Forbidden(at.Child("lifecycle"), onlyBeside)
		}
		if c.LivenessProbe != nil {
			v.Forbidden(at.Child("livenessProbe"), onlyBeside)
		}
		if c.ReadinessProbe != nil {
			v.Forbidden(at.Child("readinessProbe"), onlyBeside)
		}
		if c.StartupProbe != nil {
			v.Forbidden(at.Child("startupProbe"), onlyBeside)
		}
		for k, r := range c.ResizePolicy {
			if r.RestartPolicy == corev1.RestartContainer {
				v.Invalid(at.Child("resizePolicy").Index(k).Child("restartPolicy"), r.RestartPolicy,
					"must not be set to 'RestartContainer' for non-sidecar initContainers")
			}
		}
	}
}

// notEphemeral are the fields that an ephemeral container cannot have.
var notEphemeral = []string{"Ports", "Resources", "LivenessProbe", "ReadinessProbe", "StartupProbe", "Lifecycle",
	"ResizePolicy", "RestartPolicy", "RestartPolicyRules"}

func (v *validator) ephemeralContainers(p *check.Path) {
	if len(v.spec.EphemeralContainers) == 0 {
		return
	}
	others, names := map[string]bool{}, map[string]bool{}
	for _, list := range [][]corev1.Container{v.spec.Containers, v.spec.InitContainers} {
		for i := range list {
			others[list[i].Name], names[list[i].Name] = true, true
		}
	}
	for i := range v.spec.EphemeralContainers {
		e, at := &v.spec.EphemeralContainers[i], p.Index(i)
		c := (*corev1.Container)(&e.EphemeralContainerCommon)
		v.container(at, c)
		requireTrimmedImage(v.Errors, at, c)
		if names[e.Name] {
			v.Duplicate(at.Child("name"), e.Name)
		}
		names[e.Name] = true
		if e.TargetContainerName != "" && !others[e.TargetContainerName] {
			v.NotFound(at.Child("targetContainerName"), e.TargetContainerName)
		}
		const no = "cannot be set for an Ephemeral Container"
		value := reflect.ValueOf(e.EphemeralContainerCommon)
		for _, name := range notEphemeral {
			if !value.FieldByName(name).IsZero() {
				v.Forbidden(at.Child(lowerFirst(name)), no)
			}
		}
		for k, m := range e.VolumeMounts {
			if m.SubPath != "" {
				v.Forbidden(at.Child("volumeMounts").Index(k).Child("subPath"), no)
			}
			if m.SubPathExpr != "" {
				v.Forbidden(at.Child("volumeMounts").Index(k).Child("subPathExpr"), no)
			}
		}
	}
}

func lowerFirst(s string) string { return string(unicode.ToLower(rune(s[0]))) + s[1:] }

// container reports errors that any container can have.
func (v *validator) container(p *check.Path, c *corev1.Container) {
	if c.Name == "" {
		v.Required(p.Child("name"), "")
	} else {
		v.Label(p.Child("name"), c.Name)
	}
	if c.Image == "" {
		v.Required(p.Child("image"), "")
	}
	check.OneOf(v.Errors, p.Child("terminationMessagePolicy"), c.TerminationMessagePolicy,
		corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError)
	v.ports(p.Child("ports"), c.Ports)
	v.env(p.Child("env"), c.Env)
	v.envFrom(p.Child("envFrom"), c.EnvFrom)
	v.mounts(p.Child("volumeMounts"), c)
	v.devices(p.Child("volumeDevices"), c)
	check.OneOf(v.Errors, p.Child("imagePullPolicy"), c.ImagePullPolicy,
		corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
	v.resources(p.Child("resources"), &c.Resources)
	v.resizePolicy(p.Child("resizePolicy"), c.ResizePolicy)
	v.security(p.Child("securityContext"), c.SecurityContext)
}

func (v *validator) ports(p *check.Path, ports []corev1.ContainerPort) {
	names := map[string]bool{}
	for i, port := range ports {
		at := p.Index(i)
		if port.Name != "" {
			if !plain.PortName(port.Name) {
				v.Each(at.Child("name"), port.Name, validation.IsValidPortName(port.Name))
			} else if names[port.Name] {
				v.Duplicate(at.Child("name"), port.Name)
			}
			names[port.Name] = true
		}
		if port.ContainerPort == 0 {
			v.Required(at.Child("containerPort"), "")
		} else {
			v.Port(at.Child("containerPort"), port.ContainerPort)
		}
		if port.HostPort != 0 {
			v.Port(at.Child("hostPort"), port.HostPort)
		}
		check.OneOf(v.Errors, at.Child("protocol"), port.Protocol, corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP)
	}
}

func (v *validator) hostPortConflicts(p *check.Path, containers []corev1.Container) {
	taken := map[string]bool{}
	for i := range containers {
		for k, port := range containers[i].Ports {
			if port.HostPort == 0 {
				continue
			}
			s := fmt.Sprintf("%s/%s/%d", port.Protocol, port.HostIP, port.HostPort)
			if taken[s] {
				v.Duplicate(p.Index(i).Child("ports").Index(k).Child("hostPort"), s)
			}
			taken[s] = true
		}
	}
}

func (v *validator) resizePolicy(p *check.Path, list []corev1.ContainerResizePolicy) {
	seen := map[corev1.ResourceName]bool{}
	for i, r := range list {
		if seen[r.ResourceName] {
			v.Duplicate(p.Index(i), r.ResourceName)
		}
		seen[r.ResourceName] = true
		check.OneOf(v.Errors, p, r.ResourceName, corev1.ResourceCPU, corev1.ResourceMemory)
		check.OneOf(v.Errors, p, r.RestartPolicy, corev1.NotRequired, corev1.RestartContainer)
		if v.spec.RestartPolicy == corev1.RestartPolicyNever && r.RestartPolicy != corev1.NotRequired {
			v.Invalid(p, r.RestartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'")
		}
	}
}

func (v *validator) restartRules(p *check.Path, c *corev1.Container) {
	if c.RestartPolicy == nil {
		if len(c.RestartPolicyRules) > 0 {
			v.Required(p.Child("restartPolicy"), "must specify restartPolicy when restart rules are used")
		}
	} else {
		check.Known(v.Errors, p.Child("restartPolicy"), *c.RestartPolicy,
			corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure)
	}
	rules := p.Child("restartPolicyRules")
	if len(c.RestartPolicyRules) > 20 {
		v.Add(field.TooMany(rules.Field(), len(c.RestartPolicyRules), 20))
	}
	for i, r := range c.RestartPolicyRules {
		at := rules.Index(i)
		check.Known(v.Errors, at.Child("action"), r.Action,
			corev1.ContainerRestartRuleActionRestart, corev1.ContainerRestartRuleActionRestartAllContainers)
		if r.ExitCodes == nil {
			v.Required(at.Child("exitCodes"), "must be specified")
			continue
		}
		check.Known(v.Errors, at.Child("exitCodes", "operator"), r.ExitCodes.Operator,
			corev1.ContainerRestartRuleOnExitCodesOpIn, corev1.ContainerRestartRuleOnExitCodesOpNotIn)
		if len(r.ExitCodes.Values) > 255 {
			v.Add(field.TooMany(at.Child("exitCodes", "values").Field(), len(r.ExitCodes.Values), 255))
		}
	}
}

func requireTrimmedImages(f *check.Errors, p *check.Path, containers []corev1.Container) {
	for i := range containers {
		requireTrimmedImage(f, p.Index(i), &containers[i])
	}
}

func requireTrimmedImage(f *check.Errors, p *check.Path, c *corev1.Container) {
	if strings.TrimSpace(c.Image) != c.Image {
		f.Invalid(p.Child("image"), c.Image, "must not have leading or trailing whitespace")
	}
}
