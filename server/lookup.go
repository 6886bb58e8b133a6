package server

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// lookup is an auth.Lookup over the server's watch caches. It keeps decoded objects for as
// long as they do not change.
type lookup struct{ s *Server }

func (l lookup) Get(ctx context.Context, gr schema.GroupResource, namespace, name string) (runtime.Object, error) {
	ep, err := l.endpoint(gr)
	if err != nil {
		return nil, err
	}
	o, _, err := ep.Cache.Get(ctx, namespace, name, watchcache.ReadAt{Match: watchcache.Request})
	if err != nil {
		return nil, err
	}
	if o == nil {
		l.s.decoded.byKey.Delete(ep.Key(namespace, name))
		return nil, apierrors.NewNotFound(gr, name)
	}
	return l.typed(ctx, ep, o)
}

func (l lookup) List(ctx context.Context, gr schema.GroupResource, namespace string) ([]runtime.Object, error) {
	ep, err := l.endpoint(gr)
	if err != nil {
		return nil, err
	}
	snap, err := ep.Cache.Snapshot(ctx, watchcache.ReadAt{Match: watchcache.Request})
	if err != nil {
		return nil, err
	}
	objects, err := snap.List(watchcache.Selection{Namespace: namespace}, "", 0)
	if err != nil {
		return nil, err
	}
	var list []runtime.Object
	for o := range objects {
		obj, err := l.typed(ctx, ep, o)
		if err != nil {
			return nil, err
		}
		list = append(list, obj)
	}
	return list, nil
}

// KeyRevision returns when a key was last written in the store of a resource, 0 if it does not exist. The reads of the context's
// request are no older from then on.
func (s *Server) KeyRevision(ctx context.Context, gr schema.GroupResource, key string) (storage.Revision, error) {
	ep := s.registry.Stored(gr)
	if ep == nil {
		return 0, apierrors.NewNotFound(gr, "")
	}
	res, err := ep.Shard.Store.Range(ctx, storage.RangeRequest{Start: key})
	watchcache.Wrote(ctx)
	if err != nil || len(res.KVs) == 0 {
		return 0, err
	}
	return res.KVs[0].ModRevision, nil
}

func (l lookup) endpoint(gr schema.GroupResource) (*endpoint.Endpoint, error) {
	ep := l.s.registry.Stored(gr)
	if ep == nil {
		return nil, apierrors.NewNotFound(gr, "")
	}
	return ep, nil
}

func (l lookup) typed(ctx context.Context, ep *endpoint.Endpoint, o *watchcache.Object) (runtime.Object, error) {
	if d, ok := l.s.decoded.byKey.Load(o.Key()); ok {
		if d := d.(decodedObject); d.by == ep && d.from == o.Revision() {
			return d.typed, nil
		}
	}
	obj, err := ep.Decode(ctx, o.Value(), o.Revision())
	if err != nil {
		return nil, err
	}
	l.s.decoded.keep(o.Key(), decodedObject{ep, o.Revision(), obj})
	return obj, nil
}
