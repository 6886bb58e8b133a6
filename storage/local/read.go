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
func (p *published) read(ctx context.Context, r storage.RangeRequest) (res storage.RangeResult, err error) {
	err = p.view(ctx, r.Revision, func(st *state, at storage.Revision) { res = st.scan(r, at) })
	if err != nil {
		return storage.RangeResult{}, err
	}
	return res, nil
}

// view reads the state at a revision; 0 is the current one. It calls scan again if the revision was compacted meanwhile.
func (p *published) view(ctx context.Context, revision storage.Revision, scan func(st *state, at storage.Revision)) error {
	if revision < 0 {
		return fmt.Errorf("range at %d: %w", revision, storage.ErrInvalid)
	}
	for {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
		}
		if p.closed.Load() {
			return storage.ErrClosed
		}
		st := p.state.Load()
		at := revision
		switch {
		case at == 0:
			at = st.rev
		case at > st.rev:
			return fmt.Errorf("revision %d, the last is %d: %w", at, st.rev, storage.ErrFutureRevision)
		case at < st.compacted:
			return compactedError(at, st.compacted)
		}
		scan(st, at)
		compacted := p.state.Load().compacted
		if at >= compacted {
			return nil
		}
		if revision != 0 {
			return compactedError(at, compacted)
		}
	}
}

func (st *state) scan(r storage.RangeRequest, at storage.Revision) storage.RangeResult {
	res := storage.RangeResult{Revision: at}
	take := func(e *mvcc.Entry) {
		v := e.At(at)
		if v == nil {
			return
		}
		res.Count++
		switch {
		case r.CountOnly:
		case r.Limit > 0 && res.Count > r.Limit:
			res.More = true
		default:
			res.KVs = append(res.KVs, v.Live())
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
