package etcd

import (
	"context"
	"errors"
	"fmt"

	"fairlead.dev/storage"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// pageKeys bounds the keys of one answer of the cluster, which the cluster builds in one piece; a
// Range is put together from several, all of the first one's revision.
const pageKeys = 1000

// Range implements storage.Store. Every read is linearizable.
func (s *Store) Range(ctx context.Context, r storage.RangeRequest) (storage.RangeResult, error) {
	if r.Revision < 0 {
		return storage.RangeResult{}, fmt.Errorf("range at %d: %w", r.Revision, storage.ErrInvalid)
	}
	if s.isClosed() {
		return storage.RangeResult{}, storage.ErrClosed
	}
	sp, ok := s.keys.span(r.Start, r.End)
	if !ok {
		// There are no keys, but the revision must still be checked.
		sp, r.CountOnly = span{start: s.keys.probeKey()}, true
	}
	for {
		res, err := s.scan(ctx, sp, r)
		if r.Revision == 0 && errors.Is(err, storage.ErrCompacted) {
			continue // overtaken between two pages: begin with a later revision
		}
		return res, err
	}
}

// scan reads page after page.
func (s *Store) scan(ctx context.Context, sp span, r storage.RangeRequest) (storage.RangeResult, error) {
	res := storage.RangeResult{Revision: r.Revision}
	for {
		limit := int64(pageKeys)
		if r.Limit > 0 {
			limit = min(limit, r.Limit-int64(len(res.KVs)))
		}
		page, err := s.page(ctx, sp, res.Revision, limit, r.CountOnly)
		if err != nil {
			return storage.RangeResult{}, err
		}
		if res.Revision == 0 {
			res.Revision = storage.Revision(page.Header.Revision)
		}
		if res.KVs == nil {
			res.Count = page.Count
			if n := min(page.Count, max(limit, r.Limit)); !r.CountOnly && n > 0 {
				res.KVs = make([]*storage.KeyValue, 0, n)
			}
		}
		for _, kv := range page.Kvs {
			res.KVs = append(res.KVs, s.keys.keyValue(kv))
		}
		if !page.More || r.CountOnly {
			return res, nil
		}
		if r.Limit > 0 && int64(len(res.KVs)) >= r.Limit {
			res.More = true
			return res, nil
		}
		sp.start = string(page.Kvs[len(page.Kvs)-1].Key) + "\x00"
	}
}

func (s *Store) page(ctx context.Context, sp span, at storage.Revision, limit int64, count bool) (*clientv3.GetResponse, error) {
	ctx, cancel := s.request(ctx)
	defer cancel()
	opts := []clientv3.OpOption{clientv3.WithRev(int64(at)), clientv3.WithLimit(limit)}
	if sp.end != "" {
		opts = append(opts, clientv3.WithRange(sp.end))
	}
	if count {
		opts = append(opts, clientv3.WithCountOnly())
	}
	for {
		// A hanging member does not refuse: the next one is asked in time.
		try, cancel := context.WithTimeout(ctx, s.opts.Timeout/tries)
		page, err := s.client.Get(try, sp.start, opts...)
		hung := try.Err() != nil && ctx.Err() == nil
		cancel()
		switch {
		case err == nil:
			s.observeRevision(page.Header.Revision)
			return page, nil
		case !hung:
			return nil, s.failure(err)
		}
	}
}

// tries is how often an unanswered read is tried within the timeout.
const tries = 3
