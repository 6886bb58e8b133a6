package client

import (
	"context"
	stdjson "encoding/json"
	"fmt"
	"net/http"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Scale reads the scale subresource of an object: how many replicas it wants and has,
// whatever its kind. A kind without one is a NotFound error, as a missing object is.
func (r Resource[T]) Scale(ctx context.Context, name string) (*autoscalingv1.Scale, error) {
	return r.scale(ctx, Request{}, name)
}

// SetScale writes the scale subresource of the object that the scale names. If the
// scale has a resourceVersion, one that has changed since is a Conflict.
func (r Resource[T]) SetScale(ctx context.Context, s *autoscalingv1.Scale) (*autoscalingv1.Scale, error) {
	body, err := r.c.encodeAny(runtime.Object(s))
	if err != nil {
		return nil, err
	}
	return r.scale(ctx, Request{Method: http.MethodPut, Body: body}, s.Name)
}

func (r Resource[T]) scale(ctx context.Context, q Request, name string) (*autoscalingv1.Scale, error) {
	path, err := r.path(ctx, r.ns, name, "scale")
	if err != nil {
		return nil, err
	}
	q.Path = path
	res, err := r.c.rest.Do(ctx, q)
	if err != nil {
		return nil, err
	}
	s := new(autoscalingv1.Scale)
	if err := stdjson.Unmarshal(res.Body, s); err != nil {
		return nil, fmt.Errorf("client: decoding the answer of %s: %w", path, err)
	}
	return s, nil
}
