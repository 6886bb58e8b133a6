package controller

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/client"
)

// Protect maintains a protection finalizer: it adds the finalizer to an object that is not terminating, and removes
// it from a terminating object that is no longer used. used is called only before the finalizer is removed; the
// component that ends a use must enqueue the object again.
func Protect[T client.Object](ctx context.Context, api client.Resource[T], obj T, finalizer string, used func() (bool, error)) (Result, error) {
	has, goes := slices.Contains(obj.GetFinalizers(), finalizer), obj.GetDeletionTimestamp() != nil
	if has != goes {
		return Result{}, nil
	}
	if goes {
		if in, err := used(); in || err != nil {
			return Result{}, err
		}
	}
	obj = obj.DeepCopyObject().(T)
	if goes {
		obj.SetFinalizers(slices.DeleteFunc(obj.GetFinalizers(), func(f string) bool { return f == finalizer }))
	} else {
		obj.SetFinalizers(append(obj.GetFinalizers(), finalizer))
	}
	_, err := api.Namespace(obj.GetNamespace()).Update(ctx, obj)
	if apierrors.IsNotFound(err) {
		err = nil
	}
	return Result{}, err
}
