package follow

import (
	"context"

	"fairlead.dev/storage"
)

// pageKeys bounds the keys that are read at once from a store that is no storage.Packer.
const pageKeys = 10_000

// Read calls each with the keys below a prefix as of a revision, in order. Errors are those of the store's Range: the keys
// that each was called with before an error are of no use.
func Read(ctx context.Context, s storage.Store, prefix string, rev storage.Revision, each func(*storage.Packed)) error {
	end := storage.PrefixEnd(prefix)
	if p, ok := s.(storage.Packer); ok {
		return p.RangePacked(ctx, prefix, end, rev, each)
	}
	for start := prefix; ; {
		page, err := s.Range(ctx, storage.RangeRequest{Start: start, End: end, Revision: rev, Limit: pageKeys})
		if err != nil {
			return err
		}
		for _, kv := range page.KVs {
			each(&storage.Packed{KV: kv})
		}
		if !page.More {
			return nil
		}
		start = page.KVs[len(page.KVs)-1].Key + "\x00"
	}
}
