package controller

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/client"
)

// Protect keeps an object that is in use: the finalizer is put on one that stays and
// has none, and taken off one that is told to go and is not used. used is asked only
// before the finalizer is taken off; whoever ends a use brings the object back here.
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
