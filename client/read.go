package client

import (
	"context"
	"iter"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Get reads one object.
func (r Resource[T]) Get(ctx context.Context, name string, opts ...metav1.GetOptions) (T, error) {
	var none T
	path, err := r.path(ctx, r.ns, name)
	if err != nil {
		return none, err
	}
	q, err := query(first(opts))
	if err != nil {
		return none, err
	}
	res, err := r.c.rest.Do(ctx, Request{Path: path, Query: q, Accept: r.codec.accept})
	if err != nil {
		return none, err
	}
	return r.codec.decode(res.Body)
}

// List reads the objects that the options select, all at once unless they set a Limit.
func (r Resource[T]) List(ctx context.Context, opts ...metav1.ListOptions) (List[T], error) {
	path, err := r.path(ctx, r.ns)
	if err != nil {
		return List[T]{}, err
	}
	q, err := query(first(opts))
	if err != nil {
		return List[T]{}, err
	}
	res, err := r.c.rest.Do(ctx, Request{Path: path, Query: q, Accept: r.codec.acceptList})
	if err != nil {
		return List[T]{}, err
	}
	return r.codec.decodeList(res.Body)
}

// Pages lists page by page, opts.Limit objects each (500 if zero), all of one revision. It
// ends after the last page or the first error. After an error for which
// apierrors.IsResourceExpired is true, the server no longer has that revision: start again.
func (r Resource[T]) Pages(ctx context.Context, opts metav1.ListOptions) iter.Seq2[List[T], error] {
	return func(yield func(List[T], error) bool) {
		if opts.Limit == 0 {
			opts.Limit = 500
		}
		for {
			page, err := r.List(ctx, opts)
			if !yield(page, err) || err != nil || page.Continue == "" {
				return
			}
			// The continue token contains the revision.
			opts.Continue, opts.ResourceVersion, opts.ResourceVersionMatch = page.Continue, "", ""
		}
	}
}
