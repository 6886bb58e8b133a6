package core

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

func namespace() *resource.Resource {
	r := resource.ClusterScoped[corev1.Namespace, corev1.NamespaceList](corev1.SchemeGroupVersion, "namespaces").
		WithShortNames("ns").WithNameRule(apivalidation.ValidateNamespaceName).
		WithSubresourceOfKind(resource.Subresource{
			Name: "finalize", Kind: "Namespace", Verbs: []string{"update"},
			PrepareForUpdate: func(obj, old runtime.Object) { obj.(*corev1.Namespace).Status = old.(*corev1.Namespace).Status },
			ValidateUpdate: func(obj, _ runtime.Object) field.ErrorList {
				return validateFinalizers(obj.(*corev1.Namespace), finalizersPath.Index)
			},
		}).
		WithStatus().
		WithSelectableFields(resource.FieldAt("status.phase", "")).
		WithTable(namespaceTable).WithStrategy(namespaceStrategy)
	r.Verbs = []string{"create", "delete", "get", "list", "patch", "update", "watch"}
	return r
}

var namespaceTable = resource.TableOf(func(n *corev1.Namespace) []any {
	return []any{n.Name, string(n.Status.Phase), resource.AgeOf(n)}
}, resource.NameColumn, resource.Text("Status", "Whether the namespace is in use or going away."), resource.AgeColumn)

var namespaceStrategy = resource.Rules[*corev1.Namespace]{
	Default: func(n *corev1.Namespace) {
		labelWithName(n)
		if n.Status.Phase == "" {
			n.Status.Phase = corev1.NamespaceActive
		}
	},
	PrepareForCreate: func(n *corev1.Namespace) {
		labelWithName(n)
		n.Status = corev1.NamespaceStatus{Phase: corev1.NamespaceActive}
		if !slices.Contains(n.Spec.Finalizers, corev1.FinalizerKubernetes) {
			n.Spec.Finalizers = append(n.Spec.Finalizers, corev1.FinalizerKubernetes)
		}
	},
	PrepareForUpdate: func(n, old *corev1.Namespace) {
		labelWithName(n)
		n.Spec.Finalizers, n.Status = old.Spec.Finalizers, old.Status
	},
	PrepareForStatusUpdate: func(n, old *corev1.Namespace) { n.Spec = old.Spec },
	PrepareForDelete:       func(n *corev1.Namespace) { n.Status.Phase = corev1.NamespaceTerminating },
	Finalizing:             func(n *corev1.Namespace) bool { return len(n.Spec.Finalizers) > 0 },
	Validate:               validateNamespace,
	ValidateUpdate:         func(n, _ *corev1.Namespace) field.ErrorList { return validateNamespace(n) },
	ValidateStatusUpdate:   validateNamespaceStatus,
}.Strategy()

// labelWithName adds the label by which selectors select a namespace by name. A name that is yet to be generated is
// unknown; a create runs this again afterwards.
func labelWithName(n *corev1.Namespace) {
	if n.Name == "" {
		return
	}
	if n.Labels == nil {
		n.Labels = map[string]string{}
	}
	n.Labels[corev1.LabelMetadataName] = n.Name
}

var finalizersPath = check.At("spec", "finalizers")

// validateNamespace reports errors without an index, as kube-apiserver does except for finalize.
func validateNamespace(n *corev1.Namespace) field.ErrorList {
	return validateFinalizers(n, func(int) *check.Path { return finalizersPath })
}

func validateFinalizers(n *corev1.Namespace, at func(int) *check.Path) field.ErrorList {
	var f check.Errors
	for i, name := range n.Spec.Finalizers {
		p := at(i)
		f.Qualified(p, string(name))
		if !strings.Contains(string(name), "/") && name != corev1.FinalizerKubernetes && name != "orphan" && name != "foregroundDeletion" {
			f.Invalid(p, string(name), "name is neither a standard finalizer name nor is it fully qualified")
		}
	}
	return f.List()
}

func validateNamespaceStatus(n, _ *corev1.Namespace) field.ErrorList {
	p := check.At("status", "Phase")
	switch {
	case n.DeletionTimestamp.IsZero() && n.Status.Phase != corev1.NamespaceActive:
		return field.ErrorList{field.Invalid(p.Field(), n.Status.Phase, "may only be 'Active' if `deletionTimestamp` is empty")}
	case !n.DeletionTimestamp.IsZero() && n.Status.Phase != corev1.NamespaceTerminating:
		return field.ErrorList{field.Invalid(p.Field(), n.Status.Phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")}
	}
	return nil
}
