package local

import (
	"context"
	"fmt"

	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/mvcc"
)

// read is storage.Store's Range. It takes no lock: it loads one state, walks its tree, and then
// checks whether compaction has overtaken it, because compaction cuts the chains that are being
// walked.
func (p *published) read(ctx context.Context, r storage.RangeRequest) (storage.RangeResult, error) {
	if r.Revision < 0 {
		return storage.RangeResult{}, fmt.Errorf("range at %d: %w", r.Revision, storage.ErrInvalid)
	}
	for {
		if err := ctx.Err(); err != nil {
			return storage.RangeResult{}, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
		}
		if p.closed.Load() {
			return storage.RangeResult{}, storage.ErrClosed
		}
		st := p.state.Load()
		at := r.Revision
		switch {
		case at == 0:
			at = st.rev
		case at > st.rev:
			return storage.RangeResult{}, fmt.Errorf("revision %d, the last is %d: %w", at, st.rev, storage.ErrFutureRevision)
		case at < st.compacted:
			return storage.RangeResult{}, compactedError(at, st.compacted)
		}
		res := st.scan(r, at)
		compacted := p.state.Load().compacted
		if at >= compacted {
			return res, nil
		}
		if r.Revision != 0 {
			return storage.RangeResult{}, compactedError(at, compacted)
		}
	}
}

func (st *state) scan(r storage.RangeRequest, at storage.Revision) storage.RangeResult {
	res := storage.RangeResult{Revision: at}
	take := func(e *mvcc.Entry) {
		kv := e.At(at)
		if kv == nil {
			return
		}
		res.Count++
		switch {
		case r.CountOnly:
		case r.Limit > 0 && res.Count > r.Limit:
			res.More = true
		default:
			res.KVs = append(res.KVs, kv)
		}
	}
	if r.End == "" {
		if e, ok := st.tree.Get(r.Start); ok {
			take(e)
		}
		return res
	}
	st.tree.Ascend(r.Start, func(key string, e *mvcc.Entry) bool {
		if (mvcc.Span{Start: r.Start, End: r.End}).Below(key) {
			return false
		}
		take(e)
		return true
	})
	return res
}
