package represent

import (
	"context"

	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/watchcache"
)

// maxPreconvert bounds the objects in one call of a conversion webhook.
const maxPreconvert = 500

// Preconvert converts the objects of a response before it begins, many with one call of the
// conversion webhook. So a failure of the webhook is the response, and writing the response
// never waits for a webhook. Objects whose conversion is kept already are left out.
func (f *Representation) Preconvert(ctx context.Context, objects []*watchcache.Object) error {
	if !f.Endpoint.AsksWebhook {
		return nil
	}
	f.Preconverted = map[*watchcache.Object][]byte{}
	fresh := map[*watchcache.Object][]byte{}
	for i, o := range objects {
		if f.Endpoint.Raw && f.Endpoint.Current(o) {
			continue
		}
		text, err := endpoint.FormOf(ctx, o, f.Endpoint.TextForm, func(o *watchcache.Object) ([]byte, error) {
			if fresh[o] == nil {
				if err := f.Endpoint.ConvertStored(ctx, objects[i:min(i+maxPreconvert, len(objects))], fresh); err != nil {
					return nil, err
				}
			}
			return fresh[o], nil
		})
		if err != nil {
			return err
		}
		f.Preconverted[o] = text
	}
	return nil
}
