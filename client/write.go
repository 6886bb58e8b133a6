package client

import (
	"context"
	"fmt"
	"net/http"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/json"
)

// Create writes a new object and returns it as the server stored it. The namespace is
// that of the Resource, or else the object's.
func (r Resource[T]) Create(ctx context.Context, obj T, opts ...metav1.CreateOptions) (T, error) {
	return r.write(ctx, http.MethodPost, obj, first(opts))
}

// Update replaces an object. If obj has a resourceVersion that is no longer the
// current one the error is a conflict.
func (r Resource[T]) Update(ctx context.Context, obj T, opts ...metav1.UpdateOptions) (T, error) {
	return r.write(ctx, http.MethodPut, obj, first(opts), obj.GetName())
}

// UpdateStatus replaces only the status of an object.
func (r Resource[T]) UpdateStatus(ctx context.Context, obj T, opts ...metav1.UpdateOptions) (T, error) {
	return r.UpdateSubresource(ctx, obj, "status", opts...)
}

// UpdateSubresource replaces only the part of an object that belongs to the subresource,
// such as the approval of a CertificateSigningRequest.
func (r Resource[T]) UpdateSubresource(ctx context.Context, obj T, subresource string, opts ...metav1.UpdateOptions) (T, error) {
	return r.write(ctx, http.MethodPut, obj, first(opts), obj.GetName(), subresource)
}

func (r Resource[T]) write(ctx context.Context, method string, obj T, opts any, names ...string) (T, error) {
	var none T
	ns := r.ns
	if ns == "" {
		ns = obj.GetNamespace()
	}
	path, err := r.path(ctx, ns, names...)
	if err != nil {
		return none, err
	}
	if r.namespaced && ns == "" {
		return none, fmt.Errorf("client: %s of %s %q: no namespace", method, r.gvr.Resource, obj.GetName())
	}
	q, err := query(opts)
	if err != nil {
		return none, err
	}
	as := r.codec.form
	if as == inCBOR && r.c.noCBOR.Load() {
		as = inJSON
	}
	for {
		body, ct, err := r.codec.encode(obj, as)
		if err != nil {
			return none, fmt.Errorf("client: encoding: %w", err)
		}
		res, err := r.c.rest.Do(ctx, Request{Method: method, Path: path, Query: q, Body: body, ContentType: ct, Accept: r.codec.accept})
		if as == inCBOR && apierrors.IsUnsupportedMediaType(err) {
			r.c.noCBOR.Store(true)
			as = inJSON
			continue
		}
		if err != nil {
			return none, err
		}
		return r.written(ctx, res)
	}
}

// written reads the answer to a write.
func (r Resource[T]) written(ctx context.Context, res *Response) (T, error) {
	defer res.free()
	decode := r.codec.decode
	if r.metadataOnly {
		decode = r.codec.decodeHead
	}
	obj, err := decode(res.Body)
	if err != nil {
		return obj, err
	}
	if wrote, ok := ctx.Value(wroteKey{}).(func(Written)); ok {
		wrote(Written{Host: r.Host(), Resource: r.gvr.GroupResource(), Object: obj})
	}
	return obj, nil
}

// Delete deletes an object, or begins to: finalizers and grace may keep it a while.
func (r Resource[T]) Delete(ctx context.Context, name string, opts ...metav1.DeleteOptions) error {
	path, err := r.path(ctx, r.ns, name)
	if err != nil {
		return err
	}
	return r.delete(ctx, path, Request{}, first(opts), metav1.ListOptions{})
}

// DeleteCollection deletes all objects that the list options select.
func (r Resource[T]) DeleteCollection(ctx context.Context, del metav1.DeleteOptions, list metav1.ListOptions) error {
	path, err := r.path(ctx, r.ns)
	if err != nil {
		return err
	}
	return r.delete(ctx, path, Request{Accept: acceptHeads}, &del, list)
}

// acceptHeads asks for metadata only, for the response to DeleteCollection.
const acceptHeads = ContentTypeJSON + ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1," + ContentTypeJSON

// delete sends q, a DELETE whose answer, an object, a list or a Status, is not decoded.
func (r Resource[T]) delete(ctx context.Context, path string, q Request, del *metav1.DeleteOptions, list metav1.ListOptions) error {
	q.Method, q.Path = http.MethodDelete, path
	var err error
	if q.Query, err = query(&list); err != nil {
		return err
	}
	d := *del
	d.APIVersion, d.Kind = "v1", "DeleteOptions"
	if q.Body, err = encodeJSON(&d); err != nil {
		return err
	}
	res, err := r.c.rest.Do(ctx, q)
	if err != nil {
		return err
	}
	res.free()
	return nil
}

// CreateSubresource sends in to a subresource of an object (binding, eviction, token) and reads the
// answer into out. out may be nil if the answer does not matter. in must be of a type
// that the client's scheme knows, or have its kind set.
func (r Resource[T]) CreateSubresource(ctx context.Context, name, subresource string, in, out runtime.Object, opts ...metav1.CreateOptions) error {
	body, err := r.c.encodeAny(in)
	if err != nil {
		return err
	}
	return r.subresource(ctx, Request{Method: http.MethodPost, Body: body}, name, subresource, first(opts), out)
}

// GetSubresource reads a subresource of another kind than the object's, as scale is, into
// out.
func (r Resource[T]) GetSubresource(ctx context.Context, name, subresource string, out runtime.Object, opts ...metav1.GetOptions) error {
	return r.subresource(ctx, Request{}, name, subresource, first(opts), out)
}

// subresource sends q to a subresource and reads the answer into out, if that is not nil.
func (r Resource[T]) subresource(ctx context.Context, q Request, name, subresource string, opts any, out runtime.Object) error {
	var err error
	if q.Path, err = r.path(ctx, r.ns, name, subresource); err != nil {
		return err
	}
	if q.Query, err = query(opts); err != nil {
		return err
	}
	res, err := r.c.rest.Do(ctx, q)
	if err != nil {
		return err
	}
	defer res.free()
	if out == nil {
		return nil
	}
	if err := json.UnmarshalCaseSensitivePreserveInts(res.Body, out); err != nil {
		return fmt.Errorf("client: decoding the answer of %s: %w", q.Path, err)
	}
	return nil
}

// encodeAny encodes an object in JSON with its kind, leaving the object as it is.
func (c *Client) encodeAny(obj runtime.Object) ([]byte, error) {
	if obj.GetObjectKind().GroupVersionKind().Kind == "" {
		gvks, _, err := c.scheme.ObjectKinds(obj)
		if err != nil {
			return nil, fmt.Errorf("client: %w", err)
		}
		v := reflect.New(reflect.TypeOf(obj).Elem())
		v.Elem().Set(reflect.ValueOf(obj).Elem())
		obj = v.Interface().(runtime.Object)
		obj.GetObjectKind().SetGroupVersionKind(gvks[0])
	}
	return encodeJSON(obj)
}
