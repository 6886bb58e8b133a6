package client

import (
	"context"
	"net/http"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Scale reads the scale subresource of an object: its desired and present number of
// replicas, whatever its kind. The error is NotFound for a kind without one, as for a
// missing object.
func (r Resource[T]) Scale(ctx context.Context, name string, opts ...metav1.GetOptions) (*autoscalingv1.Scale, error) {
	return r.scale(ctx, Request{}, name, first(opts))
}

// SetScale writes the scale subresource of the object that the scale names. If the
// scale has a resourceVersion, one that has changed since is a Conflict.
func (r Resource[T]) SetScale(ctx context.Context, s *autoscalingv1.Scale, opts ...metav1.UpdateOptions) (*autoscalingv1.Scale, error) {
	body, err := r.c.encodeAny(s)
	if err != nil {
		return nil, err
	}
	return r.scale(ctx, Request{Method: http.MethodPut, Body: body}, s.Name, first(opts))
}

// PatchScale changes the scale subresource of an object.
func (r Resource[T]) PatchScale(ctx context.Context, name string, p Patch, opts ...metav1.PatchOptions) (*autoscalingv1.Scale, error) {
	if p.err != nil {
		return nil, p.err
	}
	return r.scale(ctx, Request{Method: http.MethodPatch, Body: p.Data, ContentType: string(p.Type)}, name, first(opts))
}

func (r Resource[T]) scale(ctx context.Context, q Request, name string, opts any) (*autoscalingv1.Scale, error) {
	s := new(autoscalingv1.Scale)
	if err := r.subresource(ctx, q, name, "scale", opts, s); err != nil {
		return nil, err
	}
	return s, nil
}
