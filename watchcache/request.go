package watchcache

import (
	"context"
	"slices"
	"sync"

	"fairlead.dev/internal/watchcache/follow"
	"fairlead.dev/storage"
)

// WithRequest returns a context for the reads of one request to the server that have the Match Request. If ctx is that of another
// request, which sends this one, they read apart.
func WithRequest(ctx context.Context) context.Context {
	sender, _ := ctx.Value(requestKey{}).(*requestReads)
	return context.WithValue(ctx, requestKey{}, &requestReads{sender: sender})
}

// Trust makes the request of the context read the state that this process knows to be current, Store.Revision, without asking the
// stores, until it tries to write or calls Recheck. Without a request Trust does nothing.
func Trust(ctx context.Context) {
	if r, ok := ctx.Value(requestKey{}).(*requestReads); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.mu.trusts = true
	}
}

// Recheck ends Trust. It reports whether the request may have read an old state: a store is ahead of it, or does not answer, which is the
// error of the next read.
func Recheck(ctx context.Context) (behind bool) {
	r, ok := ctx.Value(requestKey{}).(*requestReads)
	if !ok {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.mu.trusts {
		return false
	}
	r.mu.trusts = false
	known := r.mu.known
	r.mu.known = known[:0]
	for _, k := range known {
		rev, err := k.store.Current(ctx)
		behind = behind || err != nil || rev > k.rev
		if err == nil {
			k.rev = rev
			r.mu.known = append(r.mu.known, k)
		}
	}
	return behind
}

// Wrote makes the request of the context, and those that sent it, ask their stores again. It is called after each commit that the
// request tried, so that the next read has what it wrote, or what another one wrote before it.
func Wrote(ctx context.Context) {
	r, _ := ctx.Value(requestKey{}).(*requestReads)
	for ; r != nil; r = r.sender {
		r.forget()
	}
}

type requestKey struct{}

// requestReads has the revisions of the stores that a request reads.
type requestReads struct {
	sender *requestReads
	mu     struct {
		sync.Mutex // held while a store is asked, since the other reads wait for the same answer
		known      []knownRevision
		trusts     bool // see Trust
	}
}

func (r *requestReads) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.known, r.mu.trusts = r.mu.known[:0], false
}

type knownRevision struct {
	of    *follow.Follower // one for each store
	store storage.Store
	rev   storage.Revision
}

// current returns the revision that a read must have.
func (c *Cache) current(ctx context.Context, m Match) (storage.Revision, error) {
	if m != Request {
		return c.store.Current(ctx)
	}
	r, ok := ctx.Value(requestKey{}).(*requestReads)
	if !ok {
		return c.store.Current(ctx)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.IndexFunc(r.mu.known, func(k knownRevision) bool { return k.of == c.follower }); i >= 0 {
		return r.mu.known[i].rev, nil
	}
	rev := c.store.Revision()
	if !r.mu.trusts {
		var err error
		if rev, err = c.store.Current(ctx); err != nil {
			return 0, err
		}
	}
	r.mu.known = append(r.mu.known, knownRevision{c.follower, c.store, rev})
	return rev, nil
}
