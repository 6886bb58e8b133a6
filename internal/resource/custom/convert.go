package custom

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Converter takes objects of one kind from any of its versions to another.
// Convert returns as many objects as it is given, in the same order, and leaves
// its arguments alone. It may be called from many goroutines.
type Converter interface {
	Convert(ctx context.Context, objects []*unstructured.Unstructured, to schema.GroupVersion) ([]*unstructured.Unstructured, error)
}

// rename is the conversion None: versions differ in their name alone.
type rename struct{}

func (rename) Convert(_ context.Context, objects []*unstructured.Unstructured, to schema.GroupVersion) ([]*unstructured.Unstructured, error) {
	out := make([]*unstructured.Unstructured, len(objects))
	for i, u := range objects {
		out[i] = u.DeepCopy()
		out[i].SetAPIVersion(to.String())
	}
	return out, nil
}

// unreachable stands for a webhook where nobody calls webhooks.
type unreachable struct{}

func (unreachable) Convert(context.Context, []*unstructured.Unstructured, schema.GroupVersion) ([]*unstructured.Unstructured, error) {
	return nil, errors.New("conversion webhooks are not called here")
}
