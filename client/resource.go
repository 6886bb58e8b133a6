package client

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strings"

	"fairlead.dev/trace"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/conversion/queryparams"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/codec"
)

// Resource is the access to the objects of one resource, in one namespace or in all.
// It is a small value: copy it freely, share it between goroutines. Made by For,
// Dynamic or Metadata.
type Resource[T Object] struct {
	c            *Client
	codec        *objectCodec[T]
	gvk          schema.GroupVersionKind // zero for Dynamic and Metadata
	gvr          schema.GroupVersionResource
	namespaced   bool
	ns           string
	metadataOnly bool  // decode only the metadata of the responses to writes
	err          error // of its construction; returned by every method
}

// For gives access to the objects of a Go type, a pointer to a struct that the
// client's scheme knows. Where they live is asked of the server at first use. A type
// that the scheme does not know is reported by every method.
func For[T Object](c *Client) Resource[T] {
	t := reflect.TypeFor[T]()
	if r, ok := c.resources.Load(t); ok {
		return r.(Resource[T])
	}
	r := Resource[T]{c: c}
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		r.err = fmt.Errorf("client: %v is not a pointer to a struct", t)
		return r
	}
	gvks, _, err := c.scheme.ObjectKinds(reflect.New(t.Elem()).Interface().(T))
	if err != nil {
		r.err = fmt.Errorf("client: %w", err)
		return r
	}
	r.gvk = gvks[0]
	r.codec = newCodec[T](c.form, r.gvk, false)
	c.resources.Store(t, r)
	return r
}

// Dynamic gives access to any resource as unstructured objects.
func Dynamic(c *Client, gvr schema.GroupVersionResource, namespaced bool) Resource[*unstructured.Unstructured] {
	return Resource[*unstructured.Unstructured]{
		c: c, gvr: gvr, namespaced: namespaced,
		codec: newCodec[*unstructured.Unstructured](c.form, schema.GroupVersionKind{}, false),
	}
}

// Metadata gives access to the metadata of the objects of any resource. Create and
// Update are not possible with it; Patch and Delete are.
func Metadata(c *Client, gvr schema.GroupVersionResource, namespaced bool) Resource[*metav1.PartialObjectMetadata] {
	return Resource[*metav1.PartialObjectMetadata]{
		c: c, gvr: gvr, namespaced: namespaced,
		codec: newCodec[*metav1.PartialObjectMetadata](c.form, metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"), true),
	}
}

// Trace is the client's.
func (r Resource[T]) Trace() *trace.Log {
	if r.c == nil {
		return nil
	}
	return r.c.trace
}

// Host is that of the server, with its port; "" for the zero Resource.
func (r Resource[T]) Host() string {
	if r.c == nil {
		return ""
	}
	return r.c.rest.base.Host
}

// UserAgent is how the client's requests introduce themselves; "" for the zero Resource.
func (r Resource[T]) UserAgent() string {
	if r.c == nil {
		return ""
	}
	return r.c.rest.agent
}

// Namespace returns the same resource narrowed to a namespace; "" widens it to all.
// Cluster-scoped resources ignore it.
func (r Resource[T]) Namespace(ns string) Resource[T] {
	r.ns = ns
	return r
}

// Interned returns the same resource for a reader that promises not to change the objects
// that it reads. Equal parts of them, such as the labels of one Deployment's pods, may then
// share memory. Call DeepCopy for an object that you can change. A store of many objects
// takes half the memory, and equal parts take hardly any time to decode.
//
// known, if not nil, returns the reader's version of an object; the new version shares its
// unchanged parts. It is called on the reading goroutine, must not keep its arguments, and
// must not use the resource.
func (r Resource[T]) Interned(known func(namespace, name []byte) (T, bool)) Resource[T] {
	if r.codec != nil {
		c := *r.codec
		c.interning = codec.NewDecoder()
		c.known = known
		r.codec = &c
	}
	return r.sharing()
}

// sharing is the resource whose codec shares objects, if its client and its reader do. The objects of Dynamic, which have no
// type of their own, are not shared.
func (r Resource[T]) sharing() Resource[T] {
	if r.c == nil || !r.c.shares || r.codec == nil || r.codec.interning == nil || r.codec.kind.Kind == "" {
		return r
	}
	c := *r.codec
	c.shared = newSharing[T](c.elem, c.unmanaged)
	r.codec = &c
	return r
}

// WithoutManagedFields returns the same resource for readers that do not need managed
// fields. Objects come back without them, often half of their size, and they are not
// decoded. Writing such an object leaves the server's managed fields unchanged.
func (r Resource[T]) WithoutManagedFields() Resource[T] {
	if r.codec != nil {
		c := *r.codec
		c.unmanaged = true
		r.codec = &c
	}
	return r.sharing()
}

// MetadataOnly returns the same resource for writers that do not need the response. Create,
// Update and Patch return only kind, name, namespace, UID and resourceVersion; other fields
// may be empty. Most of a long response is then not decoded. Reads return whole objects.
func (r Resource[T]) MetadataOnly() Resource[T] {
	r.metadataOnly = true
	return r
}

// GVK returns the kind of the objects, or the zero value for Dynamic and Metadata.
func (r Resource[T]) GVK() schema.GroupVersionKind {
	if r.gvr.Resource != "" {
		return schema.GroupVersionKind{}
	}
	return r.gvk
}

// GVR returns where the objects live, asking the server if that is not known yet.
func (r Resource[T]) GVR(ctx context.Context) (schema.GroupVersionResource, error) {
	err := r.resolve(ctx)
	return r.gvr, err
}

// resolve fills in gvr and namespaced.
func (r *Resource[T]) resolve(ctx context.Context) error {
	if r.err != nil {
		return r.err
	}
	if r.c == nil {
		return errors.New("client: Resource made without For, Dynamic or Metadata")
	}
	if r.gvr.Resource != "" {
		return nil
	}
	m, err := r.c.Mapping(ctx, r.gvk)
	r.gvr, r.namespaced = m.GVR, m.Namespaced
	return err
}

// path returns the path of the resource, or of one object if names are given.
func (r *Resource[T]) path(ctx context.Context, ns string, names ...string) (string, error) {
	if err := r.resolve(ctx); err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(versionPath(r.gvr.GroupVersion()))
	if r.namespaced && ns != "" {
		if err := checkSegment("namespace", ns); err != nil {
			return "", err
		}
		b.WriteString("/namespaces/")
		b.WriteString(ns)
	}
	b.WriteByte('/')
	b.WriteString(r.gvr.Resource)
	for i, n := range names {
		if i == 0 {
			if err := checkSegment("name", n); err != nil {
				return "", err
			}
			if r.namespaced && ns == "" {
				return "", fmt.Errorf("client: %s %q: an empty namespace may not be set when a resource name is provided", r.gvr.Resource, n)
			}
		}
		if n != "" { // "" is no subresource
			b.WriteByte('/')
			b.WriteString(n)
		}
	}
	return b.String(), nil
}

// checkSegment rejects names that would change the path.
func checkSegment(what, s string) error {
	if s == "" {
		return fmt.Errorf("client: resource %s may not be empty", what)
	}
	if s == "." || s == ".." || strings.ContainsAny(s, "/%") {
		return fmt.Errorf("client: %q is not a valid %s", s, what)
	}
	return nil
}

// query turns the options struct that opts points to into URL parameters.
func query(opts any) (url.Values, error) {
	if reflect.ValueOf(opts).Elem().IsZero() {
		return nil, nil
	}
	v, err := queryparams.Convert(opts)
	if err != nil {
		return nil, fmt.Errorf("client: options: %w", err)
	}
	return v, nil
}

// first returns the options that a caller gave, or their zero value.
func first[O any](opts []O) *O {
	if len(opts) == 0 {
		return new(O)
	}
	return &opts[0]
}
