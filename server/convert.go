package server

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/codec"
	"fairlead.dev/internal/server/managed"
	"fairlead.dev/storage"
)

// decode makes the typed object of stored bytes.
func (ep *endpoint) decode(ctx context.Context, value []byte, rev storage.Revision) (runtime.Object, error) {
	text, entries := managed.Cut(value)
	obj, _, err := ep.decodeParts(ctx, text, entries, rev)
	return obj, err
}

// decodeParts makes it of the text and that of its record of owners. foreign says
// that there may be more in the text than in the object.
func (ep *endpoint) decodeParts(ctx context.Context, text, entries []byte, rev storage.Revision) (obj runtime.Object, foreign bool, err error) {
	if ep.Custom != nil {
		obj, err = ep.decodeCustom(ctx, text, entries, rev)
		return obj, false, err
	}
	if obj, err = ep.newStored(); err != nil {
		return nil, false, err
	}
	if foreign, err = codec.DecodeStored(text, obj); err != nil {
		return nil, false, fmt.Errorf("stored %s cannot be decoded: %w", ep.gr, err)
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, false, err
	}
	if entries != nil {
		list, err := managed.Decode(entries)
		if err != nil {
			return nil, false, fmt.Errorf("stored %s cannot be decoded: %w", ep.gr, err)
		}
		m.SetManagedFields(list)
	}
	if rev != 0 {
		m.SetResourceVersion(rev.String())
	}
	return obj, foreign, nil
}

// newStored is an empty object of the storage version, or for a custom kind of
// the endpoint's.
func (ep *endpoint) newStored() (runtime.Object, error) {
	if ep.Custom != nil {
		return ep.version.New(), nil
	}
	if v := ep.Version(ep.StorageVersion); v != nil && !ep.SharesStorage {
		return v.New(), nil
	}
	return resource.Scheme().New(ep.StorageGVK())
}

// convert turns an object of the storage version into one of the endpoint's.
// Others are left as they are.
func (ep *endpoint) convert(obj runtime.Object) (runtime.Object, error) {
	if ep.version.FromStorage != nil {
		out, err := ep.version.FromStorage(obj)
		if err != nil {
			return nil, err
		}
		obj = out
	}
	obj.GetObjectKind().SetGroupVersionKind(ep.gvk)
	return obj, nil
}
