package resourceclaim

import (
	"context"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
)

// syncClaim removes the users that no longer need a claim from its reservations, and releases an unused claim.
func (c *claimer) syncClaim(ctx context.Context, o *resourcev1.ResourceClaim) (controller.Result, error) {
	var users []resourcev1.ResourceClaimConsumerReference
	for _, r := range o.Status.ReservedFor {
		uses, err := c.uses(ctx, o.Namespace, r)
		if err != nil {
			return controller.Result{}, err
		}
		if uses {
			users = append(users, r)
		}
	}
	left := len(users) < len(o.Status.ReservedFor)
	if left || len(users) == 0 && o.DeletionTimestamp != nil && slices.Contains(o.Finalizers, resourcev1.Finalizer) {
		if err := c.release(ctx, o, users); err != nil {
			return controller.Result{}, client.IgnoreNotFound(err)
		}
	}
	if len(users) > 0 || o.DeletionTimestamp != nil {
		return controller.Result{}, nil
	}
	// The garbage collector deletes claims of deleted pods and groups.
	if by := ownerOf(o); by.kind == podKind {
		if p, ok := c.pods.Store().Get(by.Namespace, by.Name); ok && (!metav1.IsControlledBy(o, p) || done(p)) {
			return controller.Result{}, client.IgnoreNotFound(c.claims.API.Namespace(o.Namespace).Delete(ctx, o.Name, metav1.DeleteOptions{
				Preconditions: &metav1.Preconditions{UID: &o.UID},
			}))
		}
	}
	return controller.Result{}, nil
}

// uses reports whether a user still needs a claim. A user that is not known is confirmed with the server: the scheduler
// may know a newer one. Those other than pods, and groups with claims, always count.
func (c *claimer) uses(ctx context.Context, namespace string, r resourcev1.ResourceClaimConsumerReference) (bool, error) {
	switch {
	case r.APIGroup == "" && r.Resource == "pods":
		p, known, err := find(ctx, c.pods, namespace, r)
		return p != nil && (!known || !done(p)), err
	case isGroup(r) && c.options.GroupClaims:
		g, _, err := find(ctx, c.groups, namespace, r)
		return g != nil, err
	}
	return true, nil
}

// find returns the object that uses a claim, and whether the cache knows it; nil if it is gone.
func find[T client.Object](ctx context.Context, from controller.Objects[T], namespace string, r resourcev1.ResourceClaimConsumerReference) (obj T, known bool, err error) {
	obj, known = from.Store().Get(namespace, r.Name)
	if !known {
		obj, err = from.API.Namespace(namespace).Get(ctx, r.Name)
	}
	if err != nil || obj.GetUID() != r.UID {
		var none T
		return none, known, client.IgnoreNotFound(err)
	}
	return obj, known, nil
}

// release sets a claim's consumers. Without any, its allocation is removed if the scheduler made it, and so is the
// finalizer.
func (c *claimer) release(ctx context.Context, o *resourcev1.ResourceClaim, users []resourcev1.ResourceClaimConsumerReference) error {
	api := c.claims.API.Namespace(o.Namespace)
	o = o.DeepCopy()
	held := slices.Contains(o.Finalizers, resourcev1.Finalizer)
	frees := len(users) == 0 && held
	if len(users) < len(o.Status.ReservedFor) || frees && o.Status.Allocation != nil {
		o.Status.ReservedFor = users
		if frees {
			o.Status.Allocation = nil
		}
		var err error
		if o, err = api.UpdateStatus(ctx, o); err != nil {
			return err
		}
	}
	if !held || o.Status.Allocation != nil {
		return nil
	}
	o = o.DeepCopy()
	o.Finalizers = slices.DeleteFunc(o.Finalizers, func(f string) bool { return f == resourcev1.Finalizer })
	_, err := api.Update(ctx, o)
	return err
}
