package server

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"fairlead.dev/internal/fastjson"
	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/codec"
	"fairlead.dev/internal/server/managed"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// decodeCustom makes an object of the endpoint's version of stored text.
func (ep *endpoint) decodeCustom(ctx context.Context, text, entries []byte, rev storage.Revision) (runtime.Object, error) {
	u, err := decodeUntyped(text)
	if err != nil {
		return nil, fmt.Errorf("stored %s cannot be decoded: %w", ep.gr, err)
	}
	if !ep.raw || u.GetAPIVersion() != ep.gvk.GroupVersion().String() || int64(rev) <= ep.since || rev == 0 {
		if u, err = ep.Custom.Read(ctx, u); err != nil {
			return nil, err
		}
	}
	o := resource.NewUntyped(u)
	return o, ep.complete(o, entries, rev)
}

// decodeUntyped decodes an object without a Go type.
func decodeUntyped(text []byte) (*unstructured.Unstructured, error) {
	if object, ok := fastjson.Object(text); ok {
		return &unstructured.Unstructured{Object: object}, nil
	}
	u := &unstructured.Unstructured{}
	return u, kjson.UnmarshalCaseSensitivePreserveInts(text, &u.Object)
}

// complete gives an object its record of owners and its revision, 0 for none.
func (ep *endpoint) complete(u *resource.Untyped, entries []byte, rev storage.Revision) error {
	if entries != nil {
		list, err := managed.Decode(entries)
		if err != nil {
			return fmt.Errorf("stored %s cannot be decoded: %w", ep.gr, err)
		}
		u.SetManagedFields(list)
	}
	if rev != 0 {
		u.SetResourceVersion(rev.String())
	}
	return nil
}

// encodeStored makes the bytes to be stored of an object as the endpoint's rules
// see it.
func (ep *endpoint) encodeStored(ctx context.Context, obj resource.Object) ([]byte, error) {
	u, ok := obj.(*resource.Untyped)
	if !ok || ep.Custom == nil {
		return codec.EncodeStored(obj, ep.StorageGVK())
	}
	bare := withoutRevision(&u.Unstructured)
	if !ep.raw {
		var err error
		if bare, err = ep.Custom.Store(ctx, bare, ep.StorageVersion); err != nil {
			return nil, err
		}
		bare = withoutRevision(&resource.NewUntyped(bare).Unstructured)
	}
	data, err := marshalUntyped(bare)
	if err != nil {
		return nil, err
	}
	return managed.Insert(data, u.Entries), nil
}

// withoutRevision is the object without its revision. It shares the rest.
func withoutRevision(u *unstructured.Unstructured) *unstructured.Unstructured {
	m, ok := u.Object["metadata"].(map[string]any)
	if !ok || m["resourceVersion"] == nil {
		return u
	}
	top, meta := maps.Clone(u.Object), maps.Clone(m)
	delete(meta, "resourceVersion")
	top["metadata"] = meta
	return &unstructured.Unstructured{Object: top}
}

// validateCustom tells the faults of a custom object beside those of its metadata.
// old is what was there, nil for a new one.
func (c *call) validateCustom(obj, old resource.Object, found field.ErrorList) field.ErrorList {
	v := resource.Validation{
		Object: &obj.(*resource.Untyped).Unstructured, Status: c.info.subresource == "status", Faults: found,
		Warn: func(text string) { c.warn(text) },
	}
	if old != nil {
		v.Old = &old.(*resource.Untyped).Unstructured
	}
	return c.ep.Custom.Validate(c.ctx, v)
}

// appendStored appends an object whose stored bytes are of the endpoint's
// version. Older ones are brought up to the kind's definition, once.
func (ep *endpoint) appendStored(ctx context.Context, dst []byte, o *watchcache.Object) ([]byte, error) {
	if ep.current(o) {
		return o.AppendJSON(dst), nil
	}
	text, err := formOf(ctx, o, ep.refresh, func(o *watchcache.Object) ([]byte, error) {
		obj, err := ep.decode(ctx, o.Value(), o.Revision())
		if err != nil {
			return nil, err
		}
		return codec.Marshal(obj, codec.JSON)
	})
	return append(dst, text...), err
}

// marshalUntyped is an object without a Go type as JSON text.
func marshalUntyped(u *unstructured.Unstructured) ([]byte, error) {
	if text, ok := fastjson.MarshalObject(u.Object); ok {
		return text, nil
	}
	return json.Marshal(u.Object)
}
