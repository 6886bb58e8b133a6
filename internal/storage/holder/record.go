package holder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"fairlead.dev/storage"
	"k8s.io/apimachinery/pkg/types"
)

// TTL is the time after which the store reports that a holder's process has ended, about; etcd checks its leases twice a second.
const TTL = 3 * time.Second

// retry is the pause after an error of the store, and between two renewals.
const retry = TTL / 3

// ErrReplaced is the error of a write by a process that has been replaced as the holder.
var ErrReplaced = errors.New("another process has become the holder of the lease")

// Record is the record of one Lease, as one candidate for it sees it.
type Record struct {
	stores   []*Store
	key      string // of the Lease, with a slash at the end
	identity string
	log      *slog.Logger
	stop     context.CancelFunc
	done     sync.WaitGroup

	mu      sync.Mutex // guards the rest
	state   state
	changed chan struct{}
}

// state is the record in the first store.
type state struct {
	holder, alive string           // identities; "" without the key
	since         storage.Revision // of the key holder
}

// entry is the value of the key holder.
type entry struct {
	HolderIdentity  string           `json:"holderIdentity"`
	ResourceVersion storage.Revision `json:"resourceVersion"`
}

// Open follows the record of a Lease until Close, for a candidate with this identity. The keys begin with prefix. The first store has the
// key alive.
func Open(stores []*Store, prefix string, lease types.NamespacedName, identity string, log *slog.Logger) *Record {
	ctx, stop := context.WithCancel(context.Background())
	r := &Record{stores: stores, key: prefix + lease.String() + "/", identity: identity, log: log.With("lease", lease.Name), stop: stop, changed: make(chan struct{})}
	r.done.Go(func() { r.follow(ctx) })
	return r
}

// Close ends the following of the record.
func (r *Record) Close() {
	r.stop()
	r.done.Wait()
}

// Gone implements leader.Record.
func (r *Record) Gone(identity string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.holder == identity && r.state.alive != identity
}

// Changed implements leader.Record.
func (r *Record) Changed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

// set changes the state, and wakes those that wait for that.
func (r *Record) set(change func(*state)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.state
	if change(&r.state); r.state != before {
		close(r.changed)
		r.changed = make(chan struct{})
	}
}

// follow keeps the state that of the store, as far as it can be reached.
func (r *Record) follow(ctx context.Context) {
	for ctx.Err() == nil {
		if err := r.followOnce(ctx); err != nil && ctx.Err() == nil {
			r.log.Debug("the record of the lease's holder cannot be read", "error", err)
			sleep(ctx, retry)
		}
	}
}

func (r *Record) followOnce(ctx context.Context) error {
	store, end := r.stores[0], storage.PrefixEnd(r.key)
	now, err := store.Range(ctx, storage.RangeRequest{Start: r.key, End: end})
	if err != nil {
		return err
	}
	events, err := store.Watch(storage.WatchRequest{Start: r.key, End: end, After: now.Revision})
	if err != nil {
		return err
	}
	defer events.Close()
	r.set(func(s *state) {
		*s = state{}
		for _, kv := range now.KVs {
			s.put(kv.Key[len(r.key):], kv)
		}
	})
	for {
		select {
		case <-events.Bell():
		case <-ctx.Done():
			return nil
		}
		batch, err := events.Next()
		if err != nil {
			return err
		}
		r.set(func(s *state) {
			for _, e := range batch.Events {
				s.put(e.KV.Key[len(r.key):], e.KV)
			}
		})
	}
}

// put notes the value of a key, which is empty after its deletion.
func (s *state) put(key string, kv *storage.KeyValue) {
	switch key {
	case "holder":
		var e entry
		_ = json.Unmarshal(kv.Value, &e) // a value that is no entry names no holder
		s.holder, s.since = e.HolderIdentity, kv.ModRevision
	case "alive":
		s.alive = string(kv.Value)
	}
}

// Hold implements leader.Record.
func (r *Record) Hold(ctx context.Context, resourceVersion string) (work context.Context, end func(), err error) {
	won, err := storage.ParseRevision(resourceVersion)
	if err != nil {
		return nil, nil, err
	}
	f := fence{key: r.key + "holder", tokens: map[*Store]storage.Revision{}}
	for _, s := range r.stores {
		if f.tokens[s], err = r.claim(ctx, s, f.key, won); err != nil {
			return nil, nil, err
		}
	}
	work, cancel := context.WithCancelCause(context.WithValue(ctx, fenceKey{}, f))
	// The process is alive until its work has ended and it has given the lease up, which may be after the end of ctx.
	living, stop := context.WithCancel(context.WithoutCancel(work))
	var kept sync.WaitGroup
	kept.Go(func() { cancel(r.stayAlive(living, f.tokens[r.stores[0]])) })
	return work, func() {
		stop()
		kept.Wait()
	}, nil
}

// claim writes the key holder of a store and returns its revision.
func (r *Record) claim(ctx context.Context, s *Store, key string, won storage.Revision) (storage.Revision, error) {
	value, err := json.Marshal(entry{r.identity, won})
	if err != nil {
		return 0, err
	}
	now, err := s.Range(ctx, storage.RangeRequest{Start: key})
	if err != nil {
		return 0, err
	}
	for current := now.KVs; ; {
		var at storage.Revision
		if len(current) > 0 && current[0] != nil {
			var e entry
			if err := json.Unmarshal(current[0].Value, &e); err != nil {
				return 0, fmt.Errorf("the key %s: %w", key, err)
			}
			if e.ResourceVersion > won {
				return 0, fmt.Errorf("%w: %s, at resourceVersion %d", ErrReplaced, e.HolderIdentity, e.ResourceVersion)
			}
			at = current[0].ModRevision
		}
		res, err := s.Commit(ctx, storage.Txn{
			If:   []storage.Condition{{Key: key, ModRevision: at}},
			Then: []storage.Op{{Type: storage.Put, Key: key, Value: value}},
		})
		if err != nil || res.Succeeded {
			return res.Revision, err
		}
		current = res.Current
	}
}

// stayAlive keeps the key alive until ctx, which is fenced, ends, and then deletes it. It returns ErrReplaced when the key holder has been
// written after the revision.
func (r *Record) stayAlive(ctx context.Context, since storage.Revision) error {
	store := r.stores[0]
	lease := storage.Lease{}
	defer func() {
		if lease.ID != 0 {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), TTL)
			defer cancel()
			_ = store.Revoke(ctx, lease.ID) // else it ends by itself
		}
	}()
	warned := false
	for tick := time.Tick(retry); ; {
		err := r.renew(ctx, &lease)
		switch {
		case errors.Is(err, ErrReplaced):
			return err
		case err != nil && ctx.Err() == nil && !warned:
			r.log.Warn("the store does not learn that this process is alive, so that another one may replace it", "error", err)
		}
		warned = err != nil
		for due := false; !due; {
			replaced, changed := r.replaced(since)
			if replaced {
				return ErrReplaced
			}
			select {
			case <-tick:
				due = true
			case <-changed:
			case <-ctx.Done():
				return nil
			}
		}
	}
}

// replaced reports whether the key holder has been written after a revision, and returns the channel that is closed at the next change.
func (r *Record) replaced(since storage.Revision) (bool, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.since > since, r.changed
}

// renew keeps the lease of the key alive, or writes the key with a new one.
func (r *Record) renew(ctx context.Context, lease *storage.Lease) (err error) {
	store := r.stores[0]
	if lease.ID != 0 {
		if _, err = store.KeepAlive(ctx, lease.ID); !errors.Is(err, storage.ErrLeaseNotFound) {
			return err
		}
		lease.ID = 0
	}
	granted, err := store.Grant(ctx, 0, TTL)
	if err != nil {
		return err
	}
	if _, err = store.Commit(ctx, storage.Txn{Then: []storage.Op{{Type: storage.Put, Key: r.key + "alive", Value: []byte(r.identity), Lease: granted.ID}}}); err == nil {
		*lease = granted
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
