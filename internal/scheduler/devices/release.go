package devices

import (
	"context"
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
)

// Unreserve removes a user, a pod or a pod group, from the reservations of a claim.
func (w *Writer) Unreserve(ctx context.Context, user types.UID, c *resourcev1.ResourceClaim) error {
	written, err := client.For[*resourcev1.ResourceClaim](w.Client).Namespace(c.Namespace).Patch(ctx, c.Name, client.StrategicPatch(map[string]any{
		"metadata": map[string]any{"uid": c.UID},
		"status":   map[string]any{"reservedFor": []any{map[string]any{"$patch": "delete", "uid": user}}},
	}).On("status"))
	if err == nil {
		w.Wrote(written)
	}
	return client.IgnoreNotFound(err)
}

// Deallocate frees the devices of a claim, if it has not changed meanwhile.
func (w *Writer) Deallocate(ctx context.Context, c *resourcev1.ResourceClaim) error {
	c = c.DeepCopy()
	c.Status = resourcev1.ResourceClaimStatus{}
	written, err := client.For[*resourcev1.ResourceClaim](w.Client).Namespace(c.Namespace).UpdateStatus(ctx, c)
	if err == nil {
		w.Wrote(written)
	}
	return err
}

// Delete deletes a claim that was made for extended resources, its finalizer first.
func (w *Writer) Delete(ctx context.Context, c *resourcev1.ResourceClaim) error {
	api := client.For[*resourcev1.ResourceClaim](w.Client).Namespace(c.Namespace)
	again := false
	err := client.RetryOnConflict(ctx, func() (err error) {
		if again {
			if c, err = api.Get(ctx, c.Name); err != nil {
				return fmt.Errorf("get resourceclaim %s/%s: %w", c.Namespace, c.Name, err)
			}
		}
		again = true
		c = c.DeepCopy()
		c.Finalizers = slices.DeleteFunc(c.Finalizers, func(f string) bool { return f == resourcev1.Finalizer })
		if _, err := api.Update(ctx, c); err != nil {
			return fmt.Errorf("update resourceclaim %s/%s: %w", c.Namespace, c.Name, err)
		}
		return nil
	})
	if err == nil {
		err = api.Delete(ctx, c.Name)
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
