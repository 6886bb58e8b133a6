package history

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/client"
)

// Reown makes the references to owners of an object of the reader's namespace true for a write: a reference to an owner that has been
// created again gets its present UID. One to an owner that is gone is removed, because the garbage collector
// would delete the object on its account; gone lists these owners as Kind/name. References to owners that the user may
// not read stay.
func (r Reader) Reown(ctx context.Context, object map[string]any) (gone []string, err error) {
	m, _ := object["metadata"].(map[string]any)
	refs, _ := m["ownerReferences"].([]any)
	var kept []any
	for _, ref := range refs {
		ref, ok := ref.(map[string]any)
		if !ok {
			continue
		}
		uid, found, err := r.ownerUID(ctx, ref)
		switch {
		case apierrors.IsForbidden(err):
			kept = append(kept, ref)
		case err != nil:
			return nil, err
		case found:
			ref["uid"] = uid
			kept = append(kept, ref)
		default:
			gone = append(gone, fmt.Sprintf("%v/%v", ref["kind"], ref["name"]))
		}
	}
	if len(kept) > 0 {
		m["ownerReferences"] = kept
	} else {
		delete(m, "ownerReferences")
	}
	return gone, nil
}

// ownerUID returns the UID of the owner that a reference names.
func (r Reader) ownerUID(ctx context.Context, ref map[string]any) (uid string, found bool, err error) {
	version, _ := ref["apiVersion"].(string)
	kind, _ := ref["kind"].(string)
	name, _ := ref["name"].(string)
	mapping, err := r.Client.Mapping(ctx, schema.FromAPIVersionAndKind(version, kind))
	if meta.IsNoMatchError(err) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	owners := client.Metadata(r.Client, mapping.GVR, mapping.Namespaced)
	switch {
	case mapping.Namespaced && !r.Resource.Namespaced:
		return "", false, nil // no owner can be in a namespace: the garbage collector treats it as absent
	case mapping.Namespaced:
		owners = owners.Namespace(r.Namespace)
	}
	owner, err := owners.Get(ctx, name)
	if apierrors.IsNotFound(err) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	return string(owner.UID), true, nil
}
