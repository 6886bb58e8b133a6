package networking

import (
	"net"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

var policyTable = resource.TableOf(func(n *networkingv1.NetworkPolicy) []any {
	return []any{n.Name, metav1.FormatLabelSelector(&n.Spec.PodSelector), resource.AgeOf(n)}
}, resource.NameColumn, resource.Text("Pod-Selector", "Labels of the pods that the policy is for."), resource.AgeColumn)

func policyStrategy() resource.Strategy {
	r := resource.SpecOnly(func(n *networkingv1.NetworkPolicy) *networkingv1.NetworkPolicySpec { return &n.Spec })
	r.Default = defaultPolicy
	r.Validate = func(n *networkingv1.NetworkPolicy) field.ErrorList { return validatePolicy(n, nil) }
	r.ValidateUpdate = func(n, old *networkingv1.NetworkPolicy) field.ErrorList { return validatePolicy(n, blocks(old)) }
	return r.Strategy()
}

func defaultPolicy(n *networkingv1.NetworkPolicy) {
	tcp := func(ports []networkingv1.NetworkPolicyPort) {
		for i := range ports {
			resource.SetDefault(&ports[i].Protocol, corev1.ProtocolTCP)
		}
	}
	for i := range n.Spec.Ingress {
		tcp(n.Spec.Ingress[i].Ports)
	}
	for i := range n.Spec.Egress {
		tcp(n.Spec.Egress[i].Ports)
	}
	if len(n.Spec.PolicyTypes) == 0 {
		n.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
		if len(n.Spec.Egress) > 0 {
			n.Spec.PolicyTypes = append(n.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
		}
	}
}

// blocks are the address blocks of a policy, as they are written.
func blocks(n *networkingv1.NetworkPolicy) []string {
	var all []string
	of := func(peers []networkingv1.NetworkPolicyPeer) {
		for _, p := range peers {
			if p.IPBlock != nil {
				all = append(append(all, p.IPBlock.CIDR), p.IPBlock.Except...)
			}
		}
	}
	for _, r := range n.Spec.Ingress {
		of(r.From)
	}
	for _, r := range n.Spec.Egress {
		of(r.To)
	}
	return all
}

func validatePolicy(n *networkingv1.NetworkPolicy, was []string) field.ErrorList {
	var f check.Errors
	p, s := check.At("spec"), &n.Spec
	f.Selector(p.Child("podSelector"), &s.PodSelector)
	for i, r := range s.Ingress {
		at := p.Child("ingress").Index(i)
		policyPorts(&f, at.Child("ports"), r.Ports)
		peers(&f, at.Child("from"), r.From, was)
	}
	for i, r := range s.Egress {
		at := p.Child("egress").Index(i)
		policyPorts(&f, at.Child("ports"), r.Ports)
		peers(&f, at.Child("to"), r.To, was)
	}
	if len(s.PolicyTypes) > 2 {
		f.Invalid(p.Child("policyTypes"), &s.PolicyTypes, "may not specify more than two policyTypes")
		return f.List()
	}
	for i, t := range s.PolicyTypes {
		check.Known(&f, p.Child("policyTypes").Index(i), t, networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress)
	}
	return f.List()
}

func policyPorts(f *check.Errors, p *check.Path, ports []networkingv1.NetworkPolicyPort) {
	for i, port := range ports {
		at := p.Index(i)
		if port.Protocol != nil {
			check.Known(f, at.Child("protocol"), *port.Protocol, corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP)
		}
		end := at.Child("endPort")
		switch {
		case port.Port == nil:
			if port.EndPort != nil {
				f.Invalid(end, *port.EndPort, "may not be specified when `port` is not specified")
			}
		case port.Port.Type == intstr.Int:
			f.Port(at.Child("port"), port.Port.IntVal)
			if port.EndPort != nil {
				if *port.EndPort < port.Port.IntVal {
					f.Invalid(end, *port.EndPort, "must be greater than or equal to `port`")
				}
				f.Port(end, *port.EndPort)
			}
		default:
			if port.EndPort != nil {
				f.Invalid(end, *port.EndPort, "may not be specified when `port` is non-numeric")
			}
			f.Each(at.Child("port"), port.Port.StrVal, validation.IsValidPortName(port.Port.StrVal))
		}
	}
}

func peers(f *check.Errors, p *check.Path, list []networkingv1.NetworkPolicyPeer, was []string) {
	for i, peer := range list {
		at, n := p.Index(i), 0
		if peer.PodSelector != nil {
			n++
			f.Selector(at.Child("podSelector"), peer.PodSelector)
		}
		if peer.NamespaceSelector != nil {
			n++
			f.Selector(at.Child("namespaceSelector"), peer.NamespaceSelector)
		}
		if peer.IPBlock != nil {
			n++
			block(f, at.Child("ipBlock"), peer.IPBlock, was)
		}
		if n == 0 {
			f.Required(at, "must specify a peer")
		} else if n > 1 && peer.IPBlock != nil {
			f.Forbidden(at, "may not specify both ipBlock and another peer")
		}
	}
}

func block(f *check.Errors, p *check.Path, b *networkingv1.IPBlock, was []string) {
	if b.CIDR == "" {
		f.Required(p.Child("cidr"), "")
		return
	}
	f.CIDR(p.Child("cidr"), b.CIDR, was...)
	_, whole, err := net.ParseCIDR(b.CIDR)
	if err != nil {
		return
	}
	size, _ := whole.Mask.Size()
	for i, e := range b.Except {
		at := p.Child("except").Index(i)
		f.CIDR(at, e, was...)
		_, part, err := net.ParseCIDR(e)
		if err != nil {
			continue
		}
		if n, _ := part.Mask.Size(); !whole.Contains(part.IP) || size >= n {
			f.Invalid(at, e, "must be a strict subset of `cidr`")
		}
	}
}
