package local

import (
	"context"
	"fmt"

	"fairlead.dev/storage"
)

// Range implements storage.Store. It takes no lock: it loads one state, walks its tree, and then
// checks whether compaction has overtaken it, because compaction cuts the chains that are being
// walked.
func (s *Store) Range(ctx context.Context, r storage.RangeRequest) (storage.RangeResult, error) {
	if r.Revision < 0 {
		return storage.RangeResult{}, fmt.Errorf("range at %d: %w", r.Revision, storage.ErrInvalid)
	}
	for {
		if err := ctx.Err(); err != nil {
			return storage.RangeResult{}, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
		}
		if s.closed.Load() {
			return storage.RangeResult{}, storage.ErrClosed
		}
		st := s.state.Load()
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
		compacted := s.state.Load().compacted
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
	take := func(e *entry) {
		kv := e.at(at)
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
	st.tree.Ascend(r.Start, func(key string, e *entry) bool {
		if (span{r.Start, r.End}).below(key) {
			return false
		}
		take(e)
		return true
	})
	return res
}
