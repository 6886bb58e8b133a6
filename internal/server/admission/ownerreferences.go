package admission

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/auth"
)

// OwnerReferencesPermissionEnforcement rejects changes of owner references unless the user may delete the object, and
// references that block the deletion of an owner whose finalizers the user may not change.
type OwnerReferencesPermissionEnforcement struct {
	Authorizer auth.Authorizer
	// Rows are the resources that the server serves.
	Rows func() []*resource.Resource
}

// Name implements Plugin.
func (OwnerReferencesPermissionEnforcement) Name() string {
	return "OwnerReferencesPermissionEnforcement"
}

// Validate implements Validator.
func (p OwnerReferencesPermissionEnforcement) Validate(ctx context.Context, r *Request) error {
	if r.Verb != Create && r.Verb != Update || r.GroupResource() == core("pods") && r.Subresource == "status" {
		return nil
	}
	now, was := owners(r.Object), owners(r.Old)
	if slices.EqualFunc(now, was, func(a, b metav1.OwnerReference) bool { return equality.Semantic.DeepEqual(a, b) }) {
		return nil
	}
	if r.Verb == Update { // a new object is the user's own
		d, reason, err := p.Authorizer.Authorize(ctx, auth.Attributes{
			User: r.User, Verb: "delete", IsResource: true, Group: r.Resource.Group, Version: r.Version,
			Resource: r.Resource.Plural, Subresource: r.Subresource, Namespace: r.Namespace, Name: r.Name,
		})
		if d != auth.Allow {
			return forbid(r, fmt.Errorf("cannot set an ownerRef on a resource you can't delete: %v, %v", reason, err))
		}
	}
	blocking := newlyBlocking(now, was)
	if len(blocking) == 0 {
		return nil
	}
	finalizers := auth.Attributes{User: r.User, Verb: "update", IsResource: true, Group: "*", Version: "*", Resource: "*", Subresource: "finalizers", Name: "*"}
	if d, _, _ := p.Authorizer.Authorize(ctx, finalizers); d == auth.Allow {
		return nil
	}
	for _, ref := range blocking {
		if err := p.mayFinalize(ctx, r, ref); err != nil {
			return forbid(r, err)
		}
	}
	return nil
}

// mayFinalize asks whether the user may change the finalizers of an owner, in all resources of its kind.
func (p OwnerReferencesPermissionEnforcement) mayFinalize(ctx context.Context, r *Request, ref metav1.OwnerReference) error {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	var rows []*resource.Resource
	if err == nil {
		rows = slices.DeleteFunc(slices.Clone(p.Rows()), func(row *resource.Resource) bool {
			return row.Group != gv.Group || row.Kind != ref.Kind || row.Version(gv.Version) == nil
		})
		if len(rows) == 0 {
			err = &meta.NoKindMatchError{GroupKind: gv.WithKind(ref.Kind).GroupKind(), SearchedVersions: []string{gv.Version}}
		}
	}
	if err != nil {
		return fmt.Errorf("cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion %s Kind %s: %w", ref.APIVersion, ref.Kind, err)
	}
	for _, row := range rows {
		a := auth.Attributes{
			User: r.User, Verb: "update", IsResource: true, Group: row.Group, Version: gv.Version,
			Resource: row.Plural, Subresource: "finalizers", Name: ref.Name,
		}
		if row.Namespaced {
			a.Namespace = r.Namespace
		}
		if d, reason, err := p.Authorizer.Authorize(ctx, a); d != auth.Allow {
			return fmt.Errorf("cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: %v, %v", reason, err)
		}
	}
	return nil
}

// owners returns the owner references of an object, which may be nil or have no metadata.
func owners(obj runtime.Object) []metav1.OwnerReference {
	if obj == nil {
		return nil
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil
	}
	return m.GetOwnerReferences()
}

// newlyBlocking returns the references that block their owner's deletion and did not before.
func newlyBlocking(now, was []metav1.OwnerReference) (list []metav1.OwnerReference) {
	blocks := func(ref metav1.OwnerReference) bool { return ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion }
	for _, ref := range now {
		before := slices.ContainsFunc(was, func(old metav1.OwnerReference) bool { return old.UID == ref.UID && blocks(old) })
		if blocks(ref) && !before {
			list = append(list, ref)
		}
	}
	return list
}
