package resource

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/plain"
)

var metadataPath = field.NewPath("metadata")

// ValidateObjectMeta returns the errors in a new object's metadata: name (by the kind's rule), generateName,
// namespace, labels, annotations, owner references, finalizers. The name must have been generated before.
func ValidateObjectMeta(r *Resource, m metav1.Object) field.ErrorList {
	name, at := r.Name, metadataPath
	if name == nil {
		name = subdomainName
	}
	if m.GetName() != "" && len(name(m.GetName(), false)) == 0 && isValidMeta(r.Namespaced, m) {
		if g := m.GetGenerateName(); g == "" || len(name(g, true)) == 0 {
			return shortFinalizers(r, m, at.Child("finalizers"))
		}
	}
	return append(validation.ValidateObjectMetaAccessor(m, r.Namespaced, name, at), shortFinalizers(r, m, at.Child("finalizers"))...)
}

// shortFinalizers reports finalizers without a domain that are not Kubernetes' own. Some groups, and custom kinds,
// may have them.
func shortFinalizers(r *Resource, m metav1.Object, p *field.Path) (errs field.ErrorList) {
	switch r.Group {
	case "admissionregistration.k8s.io", "apiextensions.k8s.io", "coordination.k8s.io", "node.k8s.io", "policy":
		return nil
	}
	for i, f := range m.GetFinalizers() {
		switch f {
		case string(corev1.FinalizerKubernetes), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents:
			continue
		}
		if !strings.Contains(f, "/") && Scheme().IsGroupRegistered(r.Group) {
			errs = append(errs, field.Invalid(p.Index(i), f, "name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	return errs
}

// subdomainName is the rule for names of most kinds.
func subdomainName(name string, prefix bool) []string {
	if plain.Subdomain(name) || prefix && plain.Subdomain(strings.TrimSuffix(name, "-")) {
		return nil
	}
	return validation.NameIsDNSSubdomain(name, prefix)
}

// ValidateObjectMetaUpdate returns the errors in changed metadata: changes of immutable fields (name, namespace,
// uid, creation and deletion time) and malformed values.
func ValidateObjectMetaUpdate(obj, old metav1.Object) field.ErrorList {
	if isValidMetaUpdate(obj, old) {
		return nil
	}
	return validation.ValidateObjectMetaAccessorUpdate(obj, old, field.NewPath("metadata"))
}

// NilIfEmpty turns an empty list into nil, as kube-apiserver does, whose storage does not distinguish the two. It
// matters for lists that are written even if empty, and runs after managed fields are computed.
func NilIfEmpty[T any](list *[]T) {
	if len(*list) == 0 {
		*list = nil
	}
}

// SetDefault points *p to value if *p is nil.
func SetDefault[T any](p **T, value T) {
	if *p == nil {
		*p = &value
	}
}

// ValidateNew returns the errors of a new object: those of its metadata and those of the kind's rules.
func ValidateNew(r *Resource, obj Object) field.ErrorList {
	var own field.ErrorList
	if v := r.Strategy.Validate; v != nil {
		own = v(obj)
	}
	if r.MetaLast && len(own) > 0 {
		return own
	}
	return append(ValidateObjectMeta(r, obj), own...)
}
