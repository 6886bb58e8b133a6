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

// Wrote makes the request of the context, and those that sent it, ask their stores again. It is called after each commit that the
// request tried, so that the next read has what it wrote, or what another one wrote before it.
func Wrote(ctx context.Context) {
	r, _ := ctx.Value(requestKey{}).(*requestReads)
	for ; r != nil; r = r.sender {
		r.forget()
	}
}

type requestKey struct{}

// requestReads has what the stores have answered to a request.
type requestReads struct {
	sender *requestReads
	mu     struct {
		sync.Mutex // held while a store is asked, since the other reads wait for the same answer
		known      []knownRevision
	}
}

func (r *requestReads) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.known = r.mu.known[:0]
}

type knownRevision struct {
	of  *follow.Follower // one for each store
	rev storage.Revision
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
	rev, err := c.store.Current(ctx)
	if err == nil {
		r.mu.known = append(r.mu.known, knownRevision{c.follower, rev})
	}
	return rev, err
}
