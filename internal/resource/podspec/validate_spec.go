package podspec

import (
	"fmt"
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/check"
)

// run validates the spec in the order in which errors are reported.
func (v *validator) run(p *check.Path) {
	s := v.spec
	if s.TerminationGracePeriodSeconds == nil {
		v.Required(p.Child("terminationGracePeriodSeconds"), "")
	}
	v.allVolumes(p.Child("volumes"))
	v.resourceClaims(p.Child("resourceClaims"))
	v.containers(p.Child("containers"))
	v.initContainers(p.Child("initContainers"))
	v.ephemeralContainers(p.Child("ephemeralContainers"))
	v.podResources(p.Child("resources"))
	v.hostNetworkPorts(p.Child("containers"))
	check.OneOf(v.Errors, p.Child("restartPolicy"), s.RestartPolicy,
		corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)
	check.OneOf(v.Errors, p.Child("dnsPolicy"), s.DNSPolicy,
		corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst, corev1.DNSDefault, corev1.DNSNone)
	v.Labels(p.Child("nodeSelector"), s.NodeSelector)
	if share := s.ShareProcessNamespace; share != nil && *share && s.HostPID {
		v.Invalid(p.Child("shareProcessNamespace"), *share, "ShareProcessNamespace and HostPID cannot both be enabled")
	}
	v.podSecurity(p.Child("securityContext"))
	v.affinity(p.Child("affinity"))
	v.dnsConfig(p.Child("dnsConfig"))
	for i, g := range s.ReadinessGates {
		v.Qualified(p.Child("readinessGates").Index(i).Child("conditionType"), string(g.ConditionType))
	}
	v.schedulingGates(p.Child("schedulingGates"))
	v.spread(p.Child("topologySpreadConstraints"))
	v.hostProcess(p)
	v.hostUsers(p)
	v.hostNames(p)
	if s.ServiceAccountName != "" {
		v.Subdomain(p.Child("serviceAccountName"), s.ServiceAccountName)
	}
	if s.NodeName != "" {
		v.Subdomain(p.Child("nodeName"), s.NodeName)
	}
	if d := s.ActiveDeadlineSeconds; d != nil {
		v.Within(p.Child("activeDeadlineSeconds"), *d, 1, math.MaxInt32)
	}
	if s.Hostname != "" {
		v.Label(p.Child("hostname"), s.Hostname)
	}
	if s.Subdomain != "" {
		v.Label(p.Child("subdomain"), s.Subdomain)
	}
	Tolerations(v.Errors, p.Child("tolerations"), s.Tolerations)
	for i, a := range s.HostAliases {
		at := p.Child("hostAliases").Index(i)
		v.IP(at.Child("ip"), a.IP)
		for k, name := range a.Hostnames {
			v.Subdomain(at.Child("hostnames").Index(k), name)
		}
	}
	if s.PriorityClassName != "" {
		v.Subdomain(p.Child("priorityClassName"), s.PriorityClassName)
	}
	if s.RuntimeClassName != nil {
		v.Subdomain(p.Child("runtimeClassName"), *s.RuntimeClassName)
	}
	if s.PreemptionPolicy != nil {
		check.OneOf(v.Errors, p.Child("preemptionPolicy"), *s.PreemptionPolicy, corev1.PreemptLowerPriority, corev1.PreemptNever)
	}
	if s.Overhead != nil {
		v.resources(p.Child("overhead"), &corev1.ResourceRequirements{Limits: s.Overhead})
	}
	if s.OS != nil {
		v.os(p)
	}
	if g := s.SchedulingGroup; g != nil {
		at := p.Child("schedulingGroup", "podGroupName")
		if g.PodGroupName == nil {
			v.Invalid(at, g.PodGroupName, "must specify one of: `podGroupName`")
		} else {
			v.Subdomain(at, *g.PodGroupName)
		}
	}
	v.fileKeyVolumes(p)
}

func (v *validator) hostNetworkPorts(p *check.Path) {
	if !v.spec.HostNetwork {
		return
	}
	for i := range v.spec.Containers {
		for k, port := range v.spec.Containers[i].Ports {
			if (v.isPod || port.HostPort != 0) && port.HostPort != port.ContainerPort {
				v.Invalid(p.Index(i).Child("ports").Index(k).Child("hostPort"), port.HostPort, "must match `containerPort` when `hostNetwork` is true")
			}
		}
	}
}

const (
	maxNameservers      = 3
	maxSearchPaths      = 32
	maxSearchCharacters = 2048
)

func (v *validator) dnsConfig(p *check.Path) {
	c := v.spec.DNSConfig
	if v.spec.DNSPolicy == corev1.DNSNone {
		if c == nil {
			v.Required(p, fmt.Sprintf("must provide `dnsConfig` when `dnsPolicy` is %s", corev1.DNSNone))
			return
		}
		if len(c.Nameservers) == 0 {
			v.Required(p.Child("nameservers"), fmt.Sprintf("must provide at least one DNS nameserver when `dnsPolicy` is %s", corev1.DNSNone))
			return
		}
	}
	if c == nil {
		return
	}
	if len(c.Nameservers) > maxNameservers {
		v.Invalid(p.Child("nameservers"), c.Nameservers, fmt.Sprintf("must not have more than %d nameservers", maxNameservers))
	}
	for i, ns := range c.Nameservers {
		v.IP(p.Child("nameservers").Index(i), ns)
	}
	searches := p.Child("searches")
	if len(c.Searches) > maxSearchPaths {
		v.Invalid(searches, c.Searches, fmt.Sprintf("must not have more than %d search paths", maxSearchPaths))
	}
	if len(strings.Join(c.Searches, " ")) > maxSearchCharacters {
		v.Invalid(searches, c.Searches, fmt.Sprintf("must not have more than %d characters (including spaces) in the search list", maxSearchCharacters))
	}
	for i, s := range c.Searches {
		if s != "." {
			s = strings.TrimSuffix(s, ".")
			v.Each(searches.Index(i), s, validation.IsDNS1123SubdomainWithUnderscore(s))
		}
	}
	for i, o := range c.Options {
		if o.Name == "" {
			v.Required(p.Child("options").Index(i), "must not be empty")
		}
	}
}

func (v *validator) hostNames(p *check.Path) {
	name := v.spec.HostnameOverride
	if name == nil {
		return
	}
	p = p.Child("hostnameOverride")
	if v.spec.SetHostnameAsFQDN != nil && *v.spec.SetHostnameAsFQDN {
		v.Forbidden(p, "may not be specified when setHostnameAsFQDN is true")
	}
	if v.spec.HostNetwork {
		v.Forbidden(p, "may not be specified when hostNetwork is true")
	}
	if len(*name) > 64 {
		v.Add(field.TooLong(p.Field(), "", 64))
	}
	v.Subdomain(p, *name)
}

func (v *validator) resourceClaims(p *check.Path) {
	v.claims = map[string]bool{}
	for i, c := range v.spec.ResourceClaims {
		at := p.Index(i)
		switch {
		case c.Name == "":
			v.Required(at.Child("name"), "")
		case v.claims[c.Name]:
			v.Duplicate(at.Child("name"), c.Name)
		default:
			v.Label(at.Child("name"), c.Name)
			v.claims[c.Name] = true
		}
		if c.ResourceClaimName != nil && c.ResourceClaimTemplateName != nil {
			v.Invalid(at, c, "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified")
		}
		if c.ResourceClaimName == nil && c.ResourceClaimTemplateName == nil {
			v.Invalid(at, c, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")
		}
		if c.ResourceClaimName != nil {
			v.Subdomain(at.Child("resourceClaimName"), *c.ResourceClaimName)
		}
		if c.ResourceClaimTemplateName != nil {
			v.Subdomain(at.Child("resourceClaimTemplateName"), *c.ResourceClaimTemplateName)
		}
	}
}
