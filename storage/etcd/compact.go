package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead.dev/storage"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Compact implements storage.Store.
func (s *Store) Compact(ctx context.Context, r storage.Revision) error {
	if err := s.writable(ctx); err != nil {
		return err
	}
	if r <= 0 {
		return fmt.Errorf("compact to %d: %w", r, storage.ErrCompacted)
	}
	ctx, cancel := s.request(ctx)
	defer cancel()
	if _, err := s.client.Compact(ctx, int64(r)); err != nil {
		return s.writeFailure(err)
	}
	s.observeCompaction(int64(r))
	return nil
}

// findCompacted looks for the last compaction, which the cluster does not report: the lowest
// readable revision.
func (s *Store) findCompacted(ctx context.Context) error {
	low, high := max(s.Compacted(), 1), s.Revision()
	if err := s.checkReadable(ctx, low); !errors.Is(err, storage.ErrCompacted) {
		return err
	}
	for low+1 < high {
		middle := low + (high-low)/2
		switch err := s.checkReadable(ctx, middle); {
		case err == nil:
			high = middle
		case errors.Is(err, storage.ErrCompacted):
			low = middle
		default:
			return err
		}
	}
	s.observeCompaction(int64(high))
	return nil
}

// compactKey is the key by which the processes that share a cluster agree which of them compacts
// it in an interval. kube-apiserver uses the same key and protocol, so it may be one of the processes.
// The key's version counts the intervals.
const compactKey = "compact_rev_key"

// runCompaction compacts once per interval to the revision of an interval before, unless another
// process has done so.
func (s *Store) runCompaction() {
	tick := time.NewTicker(s.opts.History)
	defer tick.Stop()
	var version, recorded int64 // of compactKey, and the revision that the interval before recorded
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		claimed, next, current, err := s.claimInterval(version, recorded)
		if err == nil {
			target := recorded
			if version, recorded = next, current; claimed && target > 0 {
				err = s.Compact(s.ctx, storage.Revision(target))
			}
		}
		if err != nil && !s.isClosed() && !errors.Is(err, storage.ErrCompacted) {
			s.opts.Logger.Warn("compaction of etcd failed, to be tried again", "in", s.opts.History, "err", err)
		}
	}
}

// claimInterval claims the interval after a version of compactKey, unless another process has claimed
// it. It returns the key's version after that, and the current revision.
func (s *Store) claimInterval(version, recorded int64) (claimed bool, next, current int64, err error) {
	ctx, cancel := s.request(s.ctx)
	defer cancel()
	res, err := s.client.Txn(ctx).
		If(clientv3.Compare(clientv3.Version(compactKey), "=", version)).
		Then(clientv3.OpPut(compactKey, fmt.Sprint(recorded))).
		Else(clientv3.OpGet(compactKey)).
		Commit()
	if err != nil {
		return false, 0, 0, s.writeFailure(err)
	}
	s.observeRevision(res.Header.Revision)
	if res.Succeeded {
		return true, version + 1, res.Header.Revision, nil
	}
	if kvs := res.Responses[0].GetResponseRange().GetKvs(); len(kvs) > 0 {
		next = kvs[0].Version
	}
	return false, next, res.Header.Revision, nil
}
