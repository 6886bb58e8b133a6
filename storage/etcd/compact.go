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
	s.sawCompacted(int64(r))
	return nil
}

// findCompacted looks for the last compaction, which the cluster does not report: the lowest
// readable revision.
func (s *Store) findCompacted(ctx context.Context) error {
	low, high := max(s.Compacted(), 1), s.Revision()
	if err := s.at(ctx, low); !errors.Is(err, storage.ErrCompacted) {
		return err
	}
	for low+1 < high {
		middle := low + (high-low)/2
		switch err := s.at(ctx, middle); {
		case err == nil:
			high = middle
		case errors.Is(err, storage.ErrCompacted):
			low = middle
		default:
			return err
		}
	}
	s.sawCompacted(int64(high))
	return nil
}

// compactKey is the key by which the processes that share a cluster agree which of them compacts
// it. It is kube-apiserver's, so that a kube-apiserver may be one of them. Its version counts the
// intervals.
const compactKey = "compact_rev_key"

// compactForever compacts once per interval to the revision of an interval before, unless another
// process has done so.
func (s *Store) compactForever() {
	tick := time.NewTicker(s.opts.History)
	defer tick.Stop()
	var turn, old int64
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		mine, next, now, err := s.takeTurn(turn, old)
		if err == nil {
			last := old
			if turn, old = next, now; mine && last > 0 {
				err = s.Compact(s.ctx, storage.Revision(last))
			}
		}
		if err != nil && !s.isClosed() && !errors.Is(err, storage.ErrCompacted) {
			s.opts.Logger.Warn("compaction of etcd failed, to be tried again", "in", s.opts.History, "err", err)
		}
	}
}

// takeTurn takes the interval after turn, if it is not taken yet. It returns the next interval and
// the current revision.
func (s *Store) takeTurn(turn, old int64) (mine bool, next, now int64, err error) {
	ctx, cancel := s.request(s.ctx)
	defer cancel()
	res, err := s.client.Txn(ctx).
		If(clientv3.Compare(clientv3.Version(compactKey), "=", turn)).
		Then(clientv3.OpPut(compactKey, fmt.Sprint(old))).
		Else(clientv3.OpGet(compactKey)).
		Commit()
	if err != nil {
		return false, 0, 0, s.writeFailure(err)
	}
	s.saw(res.Header.Revision)
	if res.Succeeded {
		return true, turn + 1, res.Header.Revision, nil
	}
	if kvs := res.Responses[0].GetResponseRange().GetKvs(); len(kvs) > 0 {
		next = kvs[0].Version
	}
	return false, next, res.Header.Revision, nil
}
