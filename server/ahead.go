package server

import (
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/watchcache"
)

// mostAtOnce is how many objects another program is asked to convert at once.
const mostAtOnce = 500

// convertAhead has the objects of an answer converted, many in one question,
// before the answer is begun: what fails is an answer then, and whoever writes
// the rest waits for nobody. Those that are kept in the version are not asked for.
func (c *call) convertAhead(f *form, objects []*watchcache.Object) error {
	if !c.ep.AsksWebhook {
		return nil
	}
	f.texts = map[*watchcache.Object][]byte{}
	fresh := map[*watchcache.Object][]byte{}
	for i, o := range objects {
		if c.ep.Raw && c.ep.Current(o) {
			continue
		}
		text, err := endpoint.FormOf(c.ctx, o, c.ep.TextForm, func(o *watchcache.Object) ([]byte, error) {
			if fresh[o] == nil {
				if err := c.ep.ConvertStored(c.ctx, objects[i:min(i+mostAtOnce, len(objects))], fresh); err != nil {
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
