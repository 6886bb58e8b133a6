package server

import (
	"context"
	"errors"

	"fairlead.dev/watchcache"
)

// mostAtOnce is how many objects another program is asked to convert at once.
const mostAtOnce = 500

// convertAhead has the objects of an answer converted, many in one question,
// before the answer is begun: what fails is an answer then, and whoever writes
// the rest waits for nobody. Those that are kept in the version are not asked for.
func (c *call) convertAhead(f *form, objects []*watchcache.Object) error {
	if !c.ep.asksWebhook {
		return nil
	}
	f.texts = map[*watchcache.Object][]byte{}
	fresh := map[*watchcache.Object][]byte{}
	for i, o := range objects {
		if c.ep.raw && c.ep.current(o) {
			continue
		}
		text, err := formOf(c.ctx, o, c.ep.textForm, func(o *watchcache.Object) ([]byte, error) {
			if fresh[o] == nil {
				if err := c.ep.kind.convertStored(c.ctx, objects[i:min(i+mostAtOnce, len(objects))], fresh); err != nil {
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

// formOf is an object's form. One that somebody else was building and gave up is
// built anew.
func formOf(ctx context.Context, o *watchcache.Object, id watchcache.Encoding, build func(*watchcache.Object) ([]byte, error)) ([]byte, error) {
	for {
		text, err := o.Encoding(id, build)
		if err == nil || ctx.Err() != nil || !errors.Is(err, context.Canceled) {
			return text, err
		}
	}
}
