package server

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/codec"
	"fairlead.dev/internal/server/managed"
	"fairlead.dev/watchcache"
)

// mostAtOnce is how many objects another program is asked to convert at once.
const mostAtOnce = 500

// asks says that to show an object may be to ask another program.
func (ep *endpoint) asks() bool { return ep.Custom != nil && ep.Custom.Asks() }

// convertAhead has the objects of an answer converted, many in one question,
// before the answer is begun: what fails is an answer then, and whoever writes
// the rest waits for nobody. Those that are kept in the version are not asked for.
func (c *call) convertAhead(f *form, objects []*watchcache.Object) error {
	if !c.ep.asks() {
		return nil
	}
	f.texts = map[*watchcache.Object][]byte{}
	fresh := map[*watchcache.Object][]byte{}
	for i, o := range objects {
		if c.ep.raw && c.ep.current(o) {
			continue
		}
		text, err := formOf(c.ctx, o, c.ep.refresh, func(o *watchcache.Object) ([]byte, error) {
			if fresh[o] == nil {
				if err := c.ep.convertAll(c.ctx, objects[i:min(i+mostAtOnce, len(objects))], fresh); err != nil {
					return nil, err
				}
			}
			return fresh[o], nil
		})
		if err != nil {
			return err
		}
		f.texts[o] = text
	}
	return nil
}

// convertAll puts into texts what objects are in the endpoint's version.
func (ep *endpoint) convertAll(ctx context.Context, objects []*watchcache.Object, texts map[*watchcache.Object][]byte) error {
	stored := make([]*unstructured.Unstructured, len(objects))
	records := make([][]byte, len(objects))
	for i, o := range objects {
		var text []byte
		text, records[i] = managed.Cut(o.Value())
		var err error
		if stored[i], err = decodeUntyped(text); err != nil {
			return err
		}
	}
	all, err := ep.Custom.ReadAll(ctx, stored)
	if err != nil {
		return err
	}
	for i := range all {
		u := resource.NewUntyped(all[i])
		if err := ep.complete(u, records[i], objects[i].Revision()); err != nil {
			return err
		}
		if texts[objects[i]], err = codec.Marshal(u, codec.JSON); err != nil {
			return err
		}
	}
	return nil
}

// formOf is an object's form. One that somebody else was building and gave up is
// built anew.
func formOf(ctx context.Context, o *watchcache.Object, id watchcache.Form, build func(*watchcache.Object) ([]byte, error)) ([]byte, error) {
	for {
		text, err := o.Form(id, build)
		if err == nil || ctx.Err() != nil || !errors.Is(err, context.Canceled) {
			return text, err
		}
	}
}
