package networking

import (
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

// ipAddressName requires an address: these objects are named after theirs.
func ipAddressName(name string, _ bool) []string {
	var out []string
	for _, err := range validation.IsValidIP(&field.Path{}, name) {
		out = append(out, err.Detail)
	}
	return out
}

var ipAddressTable = resource.TableOf(func(a *networkingv1.IPAddress) []any {
	parent := resource.None
	if r := a.Spec.ParentRef; r != nil {
		parent = strings.ToLower(schema.GroupResource{Group: r.Group, Resource: r.Resource}.String())
		if r.Namespace != "" {
			parent += "/" + r.Namespace
		}
		parent += "/" + r.Name
	}
	return []any{a.Name, parent}
}, resource.NameColumn, resource.Text("ParentRef", "The object that has the address."))

var ipAddressStrategy = resource.Rules[*networkingv1.IPAddress]{
	Validate: func(a *networkingv1.IPAddress) field.ErrorList {
		var f check.Errors
		p, r := check.At("spec", "parentRef"), a.Spec.ParentRef
		if r == nil {
			f.Required(p, "")
			return f.List()
		}
		if r.Group != "" {
			f.Subdomain(p.Child("group"), r.Group)
		}
		segment(&f, p.Child("resource"), r.Resource)
		segment(&f, p.Child("name"), r.Name)
		if r.Namespace != "" {
			segment(&f, p.Child("namespace"), r.Namespace)
		}
		return f.List()
	},
	ValidateUpdate: func(a, old *networkingv1.IPAddress) field.ErrorList {
		var f check.Errors
		f.Immutable(check.At("spec", "parentRef"), a.Spec.ParentRef, old.Spec.ParentRef)
		return f.List()
	},
}.Strategy()

var serviceCIDRTable = resource.TableOf(func(c *networkingv1.ServiceCIDR) []any {
	return []any{c.Name, strings.Join(c.Spec.CIDRs, ","), resource.AgeOf(c)}
}, resource.NameColumn, resource.Text("CIDRs", "Blocks from which services get their addresses."), resource.AgeColumn)

func serviceCIDRStrategy() resource.Strategy {
	r := resource.SpecAndStatus(func(c *networkingv1.ServiceCIDR) (*networkingv1.ServiceCIDRSpec, *networkingv1.ServiceCIDRStatus) {
		return &c.Spec, &c.Status
	}).KeepMeta()
	r.Validate = func(c *networkingv1.ServiceCIDR) field.ErrorList {
		var f check.Errors
		cidrs(&f, &c.Spec)
		return f.List()
	}
	r.ValidateUpdate = func(c, old *networkingv1.ServiceCIDR) field.ErrorList {
		var f check.Errors
		p, now, was := check.At("spec", "cidrs"), c.Spec.CIDRs, old.Spec.CIDRs
		switch {
		case len(now) == len(was):
			for i := range was {
				f.Same(p.Index(i), now[i], was[i])
			}
		case len(was) == 1 && len(now) == 2: // a second family may be added
			f.Same(p.Index(0), now[0], was[0])
			cidrs(&f, &c.Spec)
		default:
			f.Invalid(p, now, "field is immutable")
		}
		return f.List()
	}
	return r.Strategy()
}

func cidrs(f *check.Errors, s *networkingv1.ServiceCIDRSpec) {
	p, list := check.At("spec", "cidrs"), s.CIDRs
	if len(list) == 0 {
		f.Required(p, "at least one CIDR required")
	}
	if len(list) > 2 {
		f.Invalid(p, s, "may only hold up to 2 values")
		return
	}
	for i, c := range list {
		f.Add(validation.IsValidCIDR(p.Index(i).Field(), c)...)
	}
	if len(list) != 2 {
		return
	}
	if one := netutils.IPFamilyOfCIDRString(list[0]); one != netutils.IPFamilyUnknown && one == netutils.IPFamilyOfCIDRString(list[1]) {
		f.Invalid(p, list, "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64")
	}
}
