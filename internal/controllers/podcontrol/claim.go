package podcontrol

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
)

// Claim determines which objects an owner controls: it keeps owned objects that match the selector, releases those
// that no longer match, and adopts matching orphans. Ownership follows labels; an object of another controller is
// never taken over.
type Claim[T client.Object] struct {
	Owner    metav1.Object
	Kind     schema.GroupVersionKind // of the owner
	Selector labels.Selector
	Resource client.Resource[T] // through which references are patched
	// Finalizers are added to adopted objects.
	Finalizers []string
	// Fresh reads the owner from the server. It is called before the first adoption: a deleted owner in a stale
	// cache must not adopt anything.
	Fresh func(context.Context) (metav1.Object, error)
}

// Take processes owned objects and orphans, and returns the objects that the owner controls afterwards. An object
// whose patch failed is left out, and its error is returned beside the others.
func (c Claim[T]) Take(ctx context.Context, owned, orphans []T) ([]T, error) {
	var errs []error
	kept := owned[:0:0]
	for _, o := range owned {
		if c.Selector.Matches(labels.Set(o.GetLabels())) {
			kept = append(kept, o)
		} else if c.Owner.GetDeletionTimestamp() == nil {
			if err := c.release(ctx, o); err != nil {
				errs = append(errs, err)
			}
		}
	}
	if c.Owner.GetDeletionTimestamp() != nil {
		return kept, errors.Join(errs...)
	}
	checked := false
	for _, o := range orphans {
		if o.GetDeletionTimestamp() != nil || !c.Selector.Matches(labels.Set(o.GetLabels())) {
			continue
		}
		if !checked {
			if err := c.mayAdopt(ctx); err != nil {
				return kept, errors.Join(append(errs, err)...)
			}
			checked = true
		}
		switch adopted, err := c.adopt(ctx, o); {
		case err == nil:
			kept = append(kept, adopted)
		case !apierrors.IsNotFound(err):
			errs = append(errs, err)
		}
	}
	return kept, errors.Join(errs...)
}

// Owns returns the matching objects that the owner controls, without any write.
func (c Claim[T]) Owns(owned []T) []T {
	kept := owned[:0:0]
	for _, o := range owned {
		if c.Selector.Matches(labels.Set(o.GetLabels())) {
			kept = append(kept, o)
		}
	}
	return kept
}

func (c Claim[T]) mayAdopt(ctx context.Context) error {
	fresh, err := c.Fresh(ctx)
	if err != nil {
		return fmt.Errorf("can't adopt for %s %s/%s: %w", c.Kind.Kind, c.Owner.GetNamespace(), c.Owner.GetName(), err)
	}
	if fresh.GetUID() != c.Owner.GetUID() {
		return fmt.Errorf("original %s %s/%s is gone: got uid %s, wanted %s",
			c.Kind.Kind, c.Owner.GetNamespace(), c.Owner.GetName(), fresh.GetUID(), c.Owner.GetUID())
	}
	if t := fresh.GetDeletionTimestamp(); t != nil {
		return fmt.Errorf("%s/%s has just been deleted at %v", c.Owner.GetNamespace(), c.Owner.GetName(), t)
	}
	return nil
}

// ownersPatch contains the object's UID, so that the patch fails on another object of the same name.
type ownersPatch struct {
	Metadata struct {
		UID             types.UID `json:"uid"`
		OwnerReferences []any     `json:"ownerReferences"`
		Finalizers      []string  `json:"finalizers,omitempty"`
	} `json:"metadata"`
}

func (c Claim[T]) adopt(ctx context.Context, o T) (T, error) {
	return c.patch(ctx, o, metav1.NewControllerRef(c.Owner, c.Kind), c.Finalizers)
}

func (c Claim[T]) release(ctx context.Context, o T) error {
	_, err := c.patch(ctx, o, map[string]string{"$patch": "delete", "uid": string(c.Owner.GetUID())}, nil)
	// Gone, or replaced by another of the same name, or already without owners: released either way.
	if apierrors.IsNotFound(err) || apierrors.IsInvalid(err) {
		return nil
	}
	return err
}

func (c Claim[T]) patch(ctx context.Context, o T, ref any, finalizers []string) (T, error) {
	var p ownersPatch
	p.Metadata.UID = o.GetUID()
	p.Metadata.OwnerReferences = []any{ref}
	p.Metadata.Finalizers = finalizers
	data, err := json.Marshal(p)
	if err != nil {
		var none T
		return none, err
	}
	return c.Resource.Namespace(o.GetNamespace()).Patch(ctx, o.GetName(), client.Patch{Type: types.StrategicMergePatchType, Data: data})
}
