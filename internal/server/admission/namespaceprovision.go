package admission

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// NamespaceCreator creates namespaces. The created one is visible in Lookup when Create returns.
type NamespaceCreator interface {
	CreateNamespace(ctx context.Context, name string) error
}

// NamespaceAutoProvision creates the missing namespace of an object that is created.
type NamespaceAutoProvision struct {
	Lookup  Lookup
	Creator NamespaceCreator
}

// Name implements Plugin.
func (NamespaceAutoProvision) Name() string { return "NamespaceAutoProvision" }

// Admit implements Mutator.
func (p NamespaceAutoProvision) Admit(ctx context.Context, r *Request) error {
	if r.Verb != Create || r.DryRun || r.Namespace == "" || r.GroupResource() == core("namespaces") {
		return nil
	}
	_, err := p.Lookup.Get(ctx, core("namespaces"), "", r.Namespace)
	if apierrors.IsNotFound(err) {
		if err = p.Creator.CreateNamespace(ctx, r.Namespace); apierrors.IsAlreadyExists(err) {
			return nil
		}
	}
	if err != nil {
		return forbid(r, err)
	}
	return nil
}

// NamespaceExists rejects writes in a namespace that is missing.
type NamespaceExists struct{ Lookup Lookup }

// Name implements Plugin.
func (NamespaceExists) Name() string { return "NamespaceExists" }

// Validate implements Validator.
func (p NamespaceExists) Validate(ctx context.Context, r *Request) error {
	if r.Verb == Connect || r.Namespace == "" || r.GroupResource() == core("namespaces") {
		return nil
	}
	if _, err := p.Lookup.Get(ctx, core("namespaces"), "", r.Namespace); err != nil {
		return status(err)
	}
	return nil
}
