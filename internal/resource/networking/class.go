package networking

import (
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

var ingressClassTable = resource.TableOf(func(c *networkingv1.IngressClass) []any {
	name, parameters := c.Name, resource.None
	if c.Annotations[networkingv1.AnnotationIsDefaultIngressClass] == "true" {
		name += " (default)"
	}
	if r := c.Spec.Parameters; r != nil {
		parameters = r.Kind
		if r.APIGroup != nil {
			parameters += "." + *r.APIGroup
		}
		parameters += "/" + r.Name
	}
	return []any{name, c.Spec.Controller, parameters, resource.AgeOf(c)}
},
	resource.NameColumn,
	resource.Text("Controller", "Who serves ingresses of the class."),
	resource.Text("Parameters", "An object with more of the class's settings."),
	resource.AgeColumn,
)

func ingressClassStrategy() resource.Strategy {
	r := resource.SpecOnly(func(c *networkingv1.IngressClass) *networkingv1.IngressClassSpec { return &c.Spec })
	r.Default = func(c *networkingv1.IngressClass) {
		if p := c.Spec.Parameters; p != nil && p.Scope == nil {
			p.Scope = ptr.To(networkingv1.IngressClassParametersReferenceScopeCluster)
		}
	}
	r.Validate = validateIngressClass
	r.ValidateUpdate = func(c, old *networkingv1.IngressClass) field.ErrorList {
		var f check.Errors
		f.Same(check.At("spec", "controller"), c.Spec.Controller, old.Spec.Controller)
		f.Add(validateIngressClass(c)...)
		return f.List()
	}
	return r.Strategy()
}

const maxController = 250

func validateIngressClass(c *networkingv1.IngressClass) field.ErrorList {
	var f check.Errors
	p := check.At("spec")
	if len(c.Spec.Controller) > maxController {
		f.Add(field.TooLong(p.Child("controller").Field(), "", maxController))
	}
	f.Add(validation.IsDomainPrefixedPath(p.Child("controller").Field(), c.Spec.Controller)...)
	r := c.Spec.Parameters
	if r == nil {
		return f.List()
	}
	p = p.Child("parameters")
	typed(&f, p, r.APIGroup, r.Kind, r.Name)
	if r.Scope == nil {
		f.Required(p.Child("scope"), "")
	}
	const cluster, namespace = networkingv1.IngressClassParametersReferenceScopeCluster, networkingv1.IngressClassParametersReferenceScopeNamespace
	at := p.Child("namespace")
	switch scope := ptr.Deref(r.Scope, ""); {
	case scope == namespace && r.Namespace == nil:
		f.Required(at, "`parameters.scope` is set to 'Namespace'")
	case scope == namespace:
		f.Each(at, *r.Namespace, apivalidation.ValidateNamespaceName(*r.Namespace, false))
	case scope == cluster && r.Namespace != nil:
		f.Forbidden(at, "`parameters.scope` is set to 'Cluster'")
	case scope != cluster:
		check.Known(&f, p.Child("scope"), scope, cluster, namespace)
	}
	return f.List()
}

// typed requires a reference that names a kind and an object.
func typed(f *check.Errors, p *check.Path, group *string, kind, name string) {
	if group != nil {
		f.Subdomain(p.Child("apiGroup"), *group)
	}
	segment(f, p.Child("kind"), kind)
	segment(f, p.Child("name"), name)
}

func segment(f *check.Errors, p *check.Path, s string) {
	if s == "" {
		f.Required(p, "")
	} else {
		f.Each(p, s, content.IsPathSegmentName(s))
	}
}
