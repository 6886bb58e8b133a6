package garbagecollector

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/controller"
)

var (
	// errDisproved means that the object does not exist; the graph has been updated.
	errDisproved = errors.New("the object does not exist")
	// errNamespacedOwner means that a cluster-scoped object claims a namespaced owner. Its namespace is unknown, so
	// the object is left alone.
	errNamespacedOwner = errors.New("cluster-scoped objects cannot refer to namespaced owners")
)

// check examines an object and deletes it if its owners are gone.
func (c *collector) check(ctx context.Context, n snapshot) error {
	if n.beingDeleted && !n.deletingDependents {
		return nil
	}
	if c.deletedQuickly(ctx, n) {
		return nil
	}
	latest, err := c.get(ctx, n.id)
	if apierrors.IsNotFound(err) || (err == nil && latest.UID != n.id.uid) {
		c.carryOut(c.graph.disprove(n.id), c.from(ctx))
		return errDisproved
	}
	if err != nil {
		return err
	}
	if n.deletingDependents {
		return c.awaitDependents(ctx, n)
	}
	if len(latest.OwnerReferences) == 0 {
		return nil
	}
	solid, dangling, waiting, err := c.classify(ctx, n, latest.OwnerReferences)
	if err != nil {
		return err
	}
	switch {
	case len(solid) > 0:
		if len(dangling)+len(waiting) == 0 {
			return nil
		}
		return client.IgnoreNotFound(c.dropOwners(ctx, n.id, append(dangling, waiting...)))
	case len(waiting) > 0 && n.hasDependents:
		if err := c.unblockCycle(ctx, n); err != nil {
			return err
		}
		return c.deleteLatest(ctx, n.id, latest, metav1.DeletePropagationForeground)
	}
	return c.deleteLatest(ctx, n.id, latest, policyOf(latest))
}

// policyOf returns the propagation policy that an object's finalizers request.
func policyOf(o metav1.Object) metav1.DeletionPropagation {
	switch l := lifeOf(o); {
	case l.orphan:
		return metav1.DeletePropagationOrphan
	case l.foreground:
		return metav1.DeletePropagationForeground
	}
	return metav1.DeletePropagationBackground
}

// classify sorts owners into those that exist, those that do not, and those whose foreground deletion waits for
// this object.
func (c *collector) classify(ctx context.Context, n snapshot, refs []metav1.OwnerReference) (solid, dangling, waiting []types.UID, err error) {
	for _, ref := range refs {
		owner, err := c.ownerOf(ctx, n.id.namespace, ref)
		switch {
		case err != nil:
			return nil, nil, nil, err
		case owner == nil:
			dangling = append(dangling, ref.UID)
		case lifeOf(owner).isForeground():
			waiting = append(waiting, ref.UID)
		default:
			solid = append(solid, ref.UID)
		}
	}
	return solid, dangling, waiting, nil
}

// ownerOf asks the server for the owner that an object of the namespace refers to, or nil.
func (c *collector) ownerOf(ctx context.Context, namespace string, ref metav1.OwnerReference) (*metav1.PartialObjectMetadata, error) {
	if c.knownAbsent(namespace, ref) {
		return nil, nil
	}
	m, err := c.env.Client.Mapping(ctx, schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
	if err != nil {
		return nil, err
	}
	id := claimed(ref, namespace)
	if !m.Namespaced {
		id.namespace = ""
	} else if namespace == "" {
		return nil, errNamespacedOwner
	}
	owner, err := c.get(ctx, id)
	if apierrors.IsNotFound(err) || (err == nil && owner.UID != ref.UID) {
		c.absent.add(id)
		return nil, nil
	}
	return owner, err
}

func (c *collector) knownAbsent(namespace string, ref metav1.OwnerReference) bool {
	return c.absent.has(claimed(ref, "")) || c.absent.has(claimed(ref, namespace))
}

// awaitDependents completes a foreground deletion if no dependent blocks it, and enqueues those that do.
func (c *collector) awaitDependents(ctx context.Context, n snapshot) error {
	blocking := c.graph.blocking(n.id.uid)
	if len(blocking) == 0 {
		return c.removeFinalizer(ctx, n.id, metav1.FinalizerDeleteDependents)
	}
	for _, d := range blocking {
		if !d.deletingDependents {
			c.loop.EnqueueFrom(ctx, controller.Key{Namespace: workCheck, Name: string(d.id.uid)})
		}
	}
	return nil
}
