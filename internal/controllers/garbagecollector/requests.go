package garbagecollector

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol"
)

type metadata = client.Resource[*metav1.PartialObjectMetadata]

// at returns the API for an identity's location.
func (c *collector) at(ctx context.Context, id identity) (metadata, error) {
	m, err := c.env.Client.Mapping(ctx, id.gvk())
	if err != nil {
		return metadata{}, err
	}
	if m.Namespaced && id.namespace == "" {
		return metadata{}, errNamespacedOwner
	}
	return client.Metadata(c.env.Client, m.GVR, m.Namespaced).Namespace(id.namespace), nil
}

func (c *collector) get(ctx context.Context, id identity) (*metav1.PartialObjectMetadata, error) {
	api, err := c.at(ctx, id)
	if err != nil {
		return nil, err
	}
	return api.Get(ctx, id.name)
}

// deleteLatest deletes the object if it is unchanged since it was checked.
func (c *collector) deleteLatest(ctx context.Context, id identity, latest metav1.Object, policy metav1.DeletionPropagation) error {
	api, err := c.at(ctx, id)
	if err != nil {
		return err
	}
	uid, version := latest.GetUID(), latest.GetResourceVersion()
	err = api.Delete(ctx, id.name, metav1.DeleteOptions{
		PropagationPolicy: &policy,
		Preconditions:     &metav1.Preconditions{UID: &uid, ResourceVersion: &version},
	})
	if apierrors.IsNotFound(err) {
		c.carryOut(c.graph.disprove(id), c.from(ctx))
		return errDisproved
	}
	return err
}

// deletedQuickly deletes an object, as the informer has it, if all its owners are known to be absent. The
// resourceVersion in the precondition replaces the check on the server: if the object has changed, or the delete
// fails for another reason, it returns false and the full check follows.
func (c *collector) deletedQuickly(ctx context.Context, n snapshot) bool {
	if n.virtual || n.deletingDependents || len(n.owners) == 0 {
		return false
	}
	o, ok := c.watch.cached(ctx, n.id)
	if !ok || o.GetUID() != n.id.uid || len(o.GetOwnerReferences()) == 0 || o.GetDeletionTimestamp() != nil {
		return false
	}
	for _, ref := range o.GetOwnerReferences() {
		if !c.knownAbsent(n.id.namespace, ref) {
			return false
		}
	}
	return c.deleteLatest(ctx, n.id, o, policyOf(o)) == nil
}

// orphanDependents carries out a deletion that keeps the dependents.
func (c *collector) orphanDependents(ctx context.Context, n snapshot) error {
	free := c.graph.dependents(n.id.uid)
	if _, err := podcontrol.Parallel(len(free), func(i int) error {
		return client.IgnoreNotFound(c.dropOwners(ctx, free[i].id, []types.UID{n.id.uid}))
	}); err != nil {
		return err
	}
	return c.removeFinalizer(ctx, n.id, metav1.FinalizerOrphanDependents)
}

// dropOwners removes owner references from an object.
func (c *collector) dropOwners(ctx context.Context, id identity, owners []types.UID) error {
	refs := make([]any, len(owners))
	for i, uid := range owners {
		refs[i] = map[string]any{"$patch": "delete", "uid": uid}
	}
	return c.patchOwners(ctx, id, refs, func(ref metav1.OwnerReference) (metav1.OwnerReference, bool) {
		return ref, !slices.Contains(owners, ref.UID)
	})
}

// unblockCycle makes an object that is about to be deleted in the foreground stop blocking its owners if one of its
// own dependents is deleted in the foreground as well: they might wait for each other in a cycle.
func (c *collector) unblockCycle(ctx context.Context, n snapshot) error {
	if !slices.ContainsFunc(c.graph.dependents(n.id.uid), func(d snapshot) bool { return d.deletingDependents }) {
		return nil
	}
	no := false
	var refs []any
	for _, ref := range n.owners {
		if blocks(ref) {
			ref.BlockOwnerDeletion = &no
			refs = append(refs, ref)
		}
	}
	if len(refs) == 0 {
		return nil
	}
	return c.patchOwners(ctx, n.id, refs, func(ref metav1.OwnerReference) (metav1.OwnerReference, bool) {
		ref.BlockOwnerDeletion = &no
		return ref, true
	})
}

// patchOwners changes an object's owner references: by a strategic merge patch if the kind supports it, else by
// replacing the list, conditional on the resourceVersion.
func (c *collector) patchOwners(ctx context.Context, id identity, strategic []any, edit func(metav1.OwnerReference) (metav1.OwnerReference, bool)) error {
	api, err := c.at(ctx, id)
	if err != nil {
		return err
	}
	_, err = api.Patch(ctx, id.name, client.StrategicPatch(map[string]any{
		"metadata": map[string]any{"uid": id.uid, "ownerReferences": strategic},
	}))
	if !apierrors.IsUnsupportedMediaType(err) {
		return err
	}
	return client.RetryOnConflict(ctx, func() error {
		o, err := api.Get(ctx, id.name)
		if err != nil || o.UID != id.uid {
			return err
		}
		refs := []metav1.OwnerReference{}
		for _, ref := range o.OwnerReferences {
			if ref, keep := edit(ref); keep {
				refs = append(refs, ref)
			}
		}
		_, err = api.Patch(ctx, id.name, client.MergePatch(map[string]any{
			"metadata": map[string]any{"resourceVersion": o.ResourceVersion, "ownerReferences": refs},
		}))
		return err
	})
}

// removeFinalizer takes a finalizer off an object, if it is there.
func (c *collector) removeFinalizer(ctx context.Context, id identity, finalizer string) error {
	api, err := c.at(ctx, id)
	if err != nil {
		return err
	}
	return client.IgnoreNotFound(client.RetryOnConflict(ctx, func() error {
		o, err := api.Get(ctx, id.name)
		if err != nil || o.UID != id.uid || !slices.Contains(o.Finalizers, finalizer) {
			return err
		}
		left := slices.DeleteFunc(slices.Clone(o.Finalizers), func(f string) bool { return f == finalizer })
		_, err = api.Patch(ctx, id.name, client.MergePatch(map[string]any{
			"metadata": map[string]any{"resourceVersion": o.ResourceVersion, "finalizers": left},
		}))
		return err
	}))
}
