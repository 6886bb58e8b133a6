package networking

import (
	"cmp"
	"fmt"
	"net"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

var ingressTable = resource.TableOf(func(i *networkingv1.Ingress) []any {
	var addresses []string
	for _, in := range i.Status.LoadBalancer.Ingress {
		if a := cmp.Or(in.IP, in.Hostname); a != "" {
			addresses = append(addresses, a)
		}
	}
	ports := "80"
	if len(i.Spec.TLS) > 0 {
		ports = "80, 443"
	}
	return []any{
		i.Name, ptr.Deref(i.Spec.IngressClassName, resource.None), hosts(i.Spec.Rules),
		resource.JoinSorted(addresses), ports, resource.AgeOf(i),
	}
},
	resource.NameColumn,
	resource.Text("Class", "The class of the ingress."),
	resource.Text("Hosts", "Hosts whose requests are taken in."),
	resource.Text("Address", "Where requests are taken in."),
	resource.Text("Ports", "Ports at which requests are taken in."),
	resource.AgeColumn,
)

// hosts words up to three hosts and counts the rules beyond.
func hosts(rules []networkingv1.IngressRule) string {
	var named []string
	for i, r := range rules {
		if len(named) == 3 {
			return fmt.Sprintf("%s + %d more...", strings.Join(named, ","), len(rules)-3)
		}
		if rules[i].Host != "" {
			named = append(named, r.Host)
		}
	}
	return cmp.Or(strings.Join(named, ","), "*")
}

const classAnnotation = "kubernetes.io/ingress.class"

func ingressStrategy() resource.Strategy {
	r := resource.SplitCounted(func(i *networkingv1.Ingress) (*networkingv1.IngressSpec, *networkingv1.IngressStatus) {
		return &i.Spec, &i.Status
	})
	r.Validate = func(i *networkingv1.Ingress) field.ErrorList {
		var f check.Errors
		ingress(&f, i)
		class, ok := i.Annotations[classAnnotation]
		if ok && i.Spec.IngressClassName != nil && class != *i.Spec.IngressClassName {
			f.Invalid(check.At("annotations").Child(classAnnotation), class, "must match `ingressClassName` when both are specified")
		}
		return f.List()
	}
	r.ValidateUpdate = func(i, _ *networkingv1.Ingress) field.ErrorList {
		var f check.Errors
		ingress(&f, i)
		return f.List()
	}
	r.ValidateStatusUpdate = validateIngressStatus
	r.Warnings = func(i *networkingv1.Ingress) []string {
		if _, ok := i.Annotations[classAnnotation]; ok {
			return []string{`annotation "kubernetes.io/ingress.class" is deprecated, please use 'spec.ingressClassName' instead`}
		}
		return nil
	}
	return r.Strategy()
}

func ingress(f *check.Errors, i *networkingv1.Ingress) {
	p, s := check.At("spec"), &i.Spec
	if len(s.Rules) == 0 && s.DefaultBackend == nil {
		f.Invalid(p, s.Rules, "either `defaultBackend` or `rules` must be specified")
	}
	if s.DefaultBackend != nil {
		backend(f, p.Child("defaultBackend"), s.DefaultBackend)
	}
	for k := range s.Rules {
		ingressRule(f, p.Child("rules").Index(k), &s.Rules[k])
	}
	for k, t := range s.TLS {
		at := p.Child("tls").Index(k)
		for h, host := range t.Hosts {
			hostName(f, at.Child("hosts").Index(h), host)
		}
		if t.SecretName != "" {
			f.Subdomain(at.Child("secretName"), t.SecretName)
		}
	}
	if s.IngressClassName != nil {
		f.Subdomain(p.Child("ingressClassName"), *s.IngressClassName)
	}
}

func hostName(f *check.Errors, p *check.Path, host string) {
	if strings.Contains(host, "*") {
		f.Each(p, host, validation.IsWildcardDNS1123Subdomain(host))
	} else {
		f.Subdomain(p, host)
	}
}

func ingressRule(f *check.Errors, p *check.Path, r *networkingv1.IngressRule) {
	if r.Host != "" {
		if net.ParseIP(r.Host) != nil {
			f.Invalid(p.Child("host"), r.Host, "must be a DNS name, not an IP address")
		}
		hostName(f, p.Child("host"), r.Host)
	}
	if r.HTTP == nil {
		return
	}
	p = p.Child("http", "paths")
	if len(r.HTTP.Paths) == 0 {
		f.Required(p, "")
	}
	for i := range r.HTTP.Paths {
		ingressPath(f, p.Index(i), &r.HTTP.Paths[i])
	}
}

func ingressPath(f *check.Errors, p *check.Path, h *networkingv1.HTTPIngressPath) {
	if h.PathType == nil {
		f.Required(p.Child("pathType"), "pathType must be specified")
		return
	}
	at := p.Child("path")
	switch *h.PathType {
	case networkingv1.PathTypeExact, networkingv1.PathTypePrefix:
		if !strings.HasPrefix(h.Path, "/") {
			f.Invalid(at, h.Path, "must be an absolute path")
		}
		for _, bad := range []string{"//", "/./", "/../", "%2f", "%2F"} {
			if strings.Contains(h.Path, bad) {
				f.Invalid(at, h.Path, fmt.Sprintf("must not contain '%s'", bad))
			}
		}
		for _, bad := range []string{"/..", "/."} {
			if strings.HasSuffix(h.Path, bad) {
				f.Invalid(at, h.Path, fmt.Sprintf("cannot end with '%s'", bad))
			}
		}
	case networkingv1.PathTypeImplementationSpecific:
		if h.Path != "" && !strings.HasPrefix(h.Path, "/") {
			f.Invalid(at, h.Path, "must be an absolute path")
		}
	default:
		check.Known(f, p.Child("pathType"), *h.PathType, networkingv1.PathTypeExact, networkingv1.PathTypeImplementationSpecific, networkingv1.PathTypePrefix)
	}
	backend(f, p.Child("backend"), &h.Backend)
}

func backend(f *check.Errors, p *check.Path, b *networkingv1.IngressBackend) {
	switch {
	case b.Resource != nil && b.Service != nil:
		f.Invalid(p, "", "cannot set both resource and service backends")
	case b.Resource != nil:
		typed(f, p.Child("resource"), b.Resource.APIGroup, b.Resource.Kind, b.Resource.Name)
	case b.Service == nil:
		f.Invalid(p, "", "resource or service backend is required")
	default:
		if b.Service.Name == "" {
			f.Required(p.Child("service", "name"), "")
		} else {
			f.Label(p.Child("service", "name"), b.Service.Name)
		}
		switch port := b.Service.Port; {
		case port.Name != "" && port.Number != 0:
			f.Invalid(p, "", "cannot set both port name & port number")
		case port.Name != "":
			f.Each(p.Child("service", "port", "name"), port.Name, validation.IsValidPortName(port.Name))
		case port.Number != 0:
			f.Port(p.Child("service", "port", "number"), port.Number)
		default:
			f.Required(p, "port name or number is required")
		}
	}
}

func validateIngressStatus(i, old *networkingv1.Ingress) field.ErrorList {
	var f check.Errors
	var was []string
	for _, in := range old.Status.LoadBalancer.Ingress {
		was = append(was, in.IP)
	}
	for k, in := range i.Status.LoadBalancer.Ingress {
		p := check.At("status", "loadBalancer", "ingress").Index(k)
		if in.IP != "" {
			f.IP(p.Child("ip"), in.IP, was...)
		}
		if in.Hostname != "" {
			f.Subdomain(p.Child("hostname"), in.Hostname)
			if net.ParseIP(in.Hostname) != nil {
				f.Invalid(p.Child("hostname"), in.Hostname, "must be a DNS name, not an IP address")
			}
		}
	}
	return f.List()
}
