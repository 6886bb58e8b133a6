package custom

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Converter converts objects of one kind from any of its versions to another. Convert returns as many objects as it
// is given, in the same order, and does not modify its arguments. It may be called from many goroutines.
type Converter interface {
	Convert(ctx context.Context, objects []*unstructured.Unstructured, to schema.GroupVersion) ([]*unstructured.Unstructured, error)
}

// rename is the conversion strategy None: only the apiVersion changes.
type rename struct{}

func (rename) Convert(_ context.Context, objects []*unstructured.Unstructured, to schema.GroupVersion) ([]*unstructured.Unstructured, error) {
	out := make([]*unstructured.Unstructured, len(objects))
	for i, u := range objects {
		out[i] = u.DeepCopy()
		out[i].SetAPIVersion(to.String())
	}
	return out, nil
}

// unreachable replaces a webhook where webhooks are not called.
type unreachable struct{}

func (unreachable) Convert(context.Context, []*unstructured.Unstructured, schema.GroupVersion) ([]*unstructured.Unstructured, error) {
	return nil, errors.New("conversion webhooks are not called here")
}
