package clusters

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/server/admission"
)

// Admission implements controlplane.Host: its plugin refuses Clusters that could not be started.
func (h *Host) Admission() admission.Plugin { return plugin{h} }

type plugin struct{ host *Host }

func (plugin) Name() string { return "Clusters" }

// Validate implements admission.Validator.
func (p plugin) Validate(_ context.Context, r *admission.Request) error {
	if r.GroupResource() != Resource || r.Verb != admission.Create || r.Subresource != "" {
		return nil
	}
	var object Cluster
	content := r.Object.(runtime.Unstructured).UnstructuredContent()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &object); err != nil {
		return nil // the schema refuses it
	}
	var errs field.ErrorList
	spec := field.NewPath("spec")
	if err := controlplane.CheckControllers(object.Spec.Controllers); err != nil {
		errs = append(errs, field.Invalid(spec.Child("controllers"), object.Spec.Controllers, err.Error()))
	}
	if from := object.Spec.From; from != nil {
		errs = append(errs, p.host.checkOrigin(*from, spec.Child("from"))...)
	}
	if len(errs) > 0 {
		return apierrors.NewInvalid(GroupVersion.WithKind("Cluster").GroupKind(), object.Name, errs)
	}
	return nil
}

// checkOrigin returns the reasons why a fork cannot be made.
func (h *Host) checkOrigin(from Origin, at *field.Path) field.ErrorList {
	origin := h.find(from.Cluster)
	if origin == nil {
		return field.ErrorList{field.NotFound(at.Child("cluster"), from.Cluster)}
	}
	revision, err := from.revision()
	if err == nil && origin.beganAt(revision) {
		return nil
	}
	cp := origin.running.Load()
	if cp == nil {
		return field.ErrorList{field.Invalid(at.Child("cluster"), from.Cluster, "the cluster is not running")}
	}
	var problem string
	switch first, last, keeps := cp.Revisions(); {
	case err != nil:
		problem = err.Error()
	case !keeps:
		problem = "a control plane on etcd cannot be forked"
	case revision > last:
		problem = "the revision is in the future; the last one is " + last.String()
	case revision > 0 && revision < first:
		problem = "the revision has been compacted; the first one that is kept is " + first.String()
	default:
		return nil
	}
	return field.ErrorList{field.Invalid(at.Child("revision"), from.Revision, problem)}
}
