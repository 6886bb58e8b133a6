package local

import (
	"context"
	"fmt"

	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/mvcc"
)

// versions is storage.Store's Versions, without times. Like read it takes no lock: it walks a chain,
// and walks it again if a compaction has cut it meanwhile.
func (p *published) versions(ctx context.Context, r storage.VersionsRequest) (storage.VersionsResult, error) {
	if r.Before < 0 || r.Limit < 1 {
		return storage.VersionsResult{}, fmt.Errorf("%d versions before %d: %w", r.Limit, r.Before, storage.ErrInvalid)
	}
	for {
		if err := ctx.Err(); err != nil {
			return storage.VersionsResult{}, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
		}
		if p.closed.Load() {
			return storage.VersionsResult{}, storage.ErrClosed
		}
		st := p.state.Load()
		res := st.versions(r)
		if p.state.Load().compacted == st.compacted {
			return res, nil
		}
	}
}

func (st *state) versions(r storage.VersionsRequest) storage.VersionsResult {
	res := storage.VersionsResult{Revision: st.rev, Compacted: st.compacted}
	e, ok := st.tree.Get(r.Key)
	if !ok {
		return res
	}
	below := st.rev + 1 // versions of this revision and above are not published yet
	if r.Before > 0 {
		below = min(below, r.Before)
	}
	v := e.Head.Load()
	for v != nil && v.KV().ModRevision >= below {
		v = v.Prev.Load()
	}
	for kv := v.Live(); v != nil; {
		base := v.KV().ModRevision <= st.compacted
		switch {
		case base && v.Deleted:
			return res
		case len(res.Versions) == r.Limit:
			res.More = true
			return res
		case base:
			res.Versions = append(res.Versions, storage.Version{Event: storage.Event{KV: kv}})
			return res
		}
		prev := v.Prev.Load()
		was := prev.Live()
		res.Versions = append(res.Versions, storage.Version{Event: event(v, kv, was)})
		v, kv = prev, was
	}
	return res
}

// event returns v, whose value is that of kv, as an event.
func event(v *mvcc.Version, kv, prev *storage.KeyValue) storage.Event {
	if v.Deleted {
		return storage.Event{Type: storage.Delete, KV: v.KV(), Prev: prev}
	}
	return storage.Event{Type: storage.Put, KV: kv, Prev: prev}
}
