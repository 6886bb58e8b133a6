package watchcache_test

import (
	"context"
	"slices"
	"sort"
	"strings"
	"sync"

	"fairlead.dev/storage"
)

// memStore is the smallest Store there is: a list of events. It can be made to
// fail in the ways a real one does.
type memStore struct {
	storage.Leaser // not used
	mu             struct {
		sync.Mutex
		rev, compacted storage.Revision
		now            map[string]*storage.KeyValue
		log            []storage.Event
		cursors        map[*memCursor]bool
		down           error
		asked          int // how often Current was called
	}
}

func newMemStore() *memStore {
	s := &memStore{}
	s.mu.rev = 1
	s.mu.now = map[string]*storage.KeyValue{}
	s.mu.cursors = map[*memCursor]bool{}
	return s
}

func (s *memStore) Range(_ context.Context, r storage.RangeRequest) (storage.RangeResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.mu.down != nil:
		return storage.RangeResult{}, s.mu.down
	case r.Revision > s.mu.rev:
		return storage.RangeResult{}, storage.ErrFutureRevision
	case r.Revision != 0 && r.Revision < s.mu.compacted:
		return storage.RangeResult{}, storage.ErrCompacted
	case r.Revision == 0:
		r.Revision = s.mu.rev
	}
	at := map[string]*storage.KeyValue{}
	for k, kv := range s.mu.now {
		at[k] = kv
	}
	for i := len(s.mu.log) - 1; i >= 0 && s.mu.log[i].Revision() > r.Revision; i-- {
		if ev := s.mu.log[i]; ev.Prev != nil {
			at[ev.KV.Key] = ev.Prev
		} else {
			delete(at, ev.KV.Key)
		}
	}
	res := storage.RangeResult{Revision: r.Revision}
	for k, kv := range at {
		if k >= r.Start && k < r.End || r.End == "" && k == r.Start {
			res.KVs = append(res.KVs, kv)
		}
	}
	sort.Slice(res.KVs, func(i, j int) bool { return res.KVs[i].Key < res.KVs[j].Key })
	res.Count = int64(len(res.KVs))
	return res, nil
}

func (s *memStore) Versions(_ context.Context, r storage.VersionsRequest) (storage.VersionsResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	res := storage.VersionsResult{Revision: s.mu.rev, Compacted: s.mu.compacted}
	for _, e := range slices.Backward(s.mu.log) {
		if e.KV.Key == r.Key && (r.Before == 0 || e.Revision() < r.Before) && e.Revision() > s.mu.compacted && !res.More {
			if res.More = len(res.Versions) == r.Limit; !res.More {
				res.Versions = append(res.Versions, storage.Version{Event: e})
			}
		}
	}
	return res, s.mu.down
}

func (s *memStore) Commit(_ context.Context, t storage.Txn) (storage.TxnResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.down != nil {
		return storage.TxnResult{}, s.mu.down
	}
	rev := s.mu.rev + 1
	for _, op := range t.Then {
		prev := s.mu.now[op.Key]
		kv := &storage.KeyValue{Key: op.Key, ModRevision: rev, CreateRevision: rev, Version: 1}
		if op.Type == storage.Delete {
			if prev == nil {
				continue
			}
			delete(s.mu.now, op.Key)
		} else {
			kv.Value = op.Value
			if prev != nil {
				kv.CreateRevision, kv.Version = prev.CreateRevision, prev.Version+1
			}
			s.mu.now[op.Key] = kv
		}
		s.mu.log = append(s.mu.log, storage.Event{Type: op.Type, KV: kv, Prev: prev})
		s.mu.rev = rev
	}
	s.ring()
	return storage.TxnResult{Succeeded: true, Revision: s.mu.rev}, nil
}

func (s *memStore) ring() {
	for c := range s.mu.cursors {
		select {
		case c.bell <- struct{}{}:
		default:
		}
	}
}

func (s *memStore) Watch(r storage.WatchRequest) (storage.Cursor, error) {
	after := r.After
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.down != nil {
		return nil, s.mu.down
	}
	if after == 0 {
		after = s.mu.rev
	}
	if after < s.mu.compacted {
		return nil, storage.ErrCompacted
	}
	c := &memCursor{store: s, start: r.Start, end: r.End, after: after, bell: make(chan struct{}, 1)}
	c.bell <- struct{}{}
	s.mu.cursors[c] = true
	return c, nil
}

func (s *memStore) Revision() storage.Revision {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.rev
}

func (s *memStore) Current(context.Context) (storage.Revision, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.asked++
	return s.mu.rev, s.mu.down
}

func (s *memStore) Compacted() storage.Revision {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.compacted
}

func (s *memStore) Compact(_ context.Context, r storage.Revision) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.compacted = r
	s.mu.log = slices.DeleteFunc(s.mu.log, func(ev storage.Event) bool { return ev.Revision() <= r })
	return nil
}

func (s *memStore) Close() error {
	s.fail(storage.ErrClosed)
	return nil
}

// fail makes everything fail, from cursors that are open to new requests; nil
// ends it, but not for the cursors.
func (s *memStore) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.down = err
	if err != nil {
		for c := range s.mu.cursors {
			c.err = err
		}
		s.ring()
	}
}

type memCursor struct {
	store      *memStore
	start, end string
	after      storage.Revision
	bell       chan struct{}
	err        error
}

func (c *memCursor) Next() (storage.Batch, error) {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case c.err != nil:
		return storage.Batch{}, c.err
	case c.after < s.mu.compacted:
		c.err = storage.ErrCompacted
		return storage.Batch{}, c.err
	}
	i := sort.Search(len(s.mu.log), func(i int) bool { return s.mu.log[i].Revision() > c.after })
	b := storage.Batch{Progress: max(c.after, s.mu.rev)}
	for _, ev := range s.mu.log[i:] {
		if strings.Compare(ev.KV.Key, c.start) >= 0 && ev.KV.Key < c.end {
			b.Events = append(b.Events, ev)
		}
	}
	c.after = b.Progress
	return b, nil
}

func (c *memCursor) Bell() <-chan struct{} { return c.bell }

// Want is empty: a commit rings all cursors.
func (c *memCursor) Want(storage.Revision) {
	select {
	case c.bell <- struct{}{}:
	default:
	}
}

func (c *memCursor) Close() {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	c.err = storage.ErrClosed
	delete(c.store.mu.cursors, c)
}
