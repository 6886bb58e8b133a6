package write

import (
	"sync"
	"time"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// writeCache keeps the decoded Go value of recently written objects, so that the next write
// need not decode them: a new pod is written three times within a second. It keeps only values
// that decoding would give as well.
//
// A value has one owner at a time. The call that wrote it gives it up, and the one that takes
// it may change it.
type writeCache struct {
	mu struct {
		sync.Mutex
		// Objects go into young, which becomes old when it is full or the time is over;
		// the former old objects are dropped then.
		young, old map[string]cachedWrite // by storage key
		// ticking reports that there are objects, and a timer that will drop them.
		ticking bool
	}
}

type cachedWrite struct {
	at  storage.Revision
	by  *endpoint.Endpoint
	obj resource.Object
}

const (
	// maxCachedWrites bounds the objects of either age.
	maxCachedWrites = 512
	cachedWriteTTL  = time.Second / 2
)

// give puts an object into the cache, which owns it from then on.
func (l *writeCache) give(key string, o cachedWrite) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.young == nil || len(l.mu.young) == maxCachedWrites {
		l.age()
	}
	l.mu.young[key] = o
	if !l.mu.ticking {
		l.mu.ticking = true
		time.AfterFunc(cachedWriteTTL, l.tick)
	}
}

// take returns the object in the state that the watch cache has, or nil, and
// removes it.
func (l *writeCache) take(ep *endpoint.Endpoint, now *watchcache.Object) resource.Object {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range [...]map[string]cachedWrite{l.mu.young, l.mu.old} {
		if o, ok := m[now.Key()]; ok && o.at == now.Revision() && o.by == ep {
			delete(m, now.Key())
			return o.obj
		}
	}
	return nil
}

// age makes young objects old and drops the old ones. It is called with the lock held.
func (l *writeCache) age() {
	clear(l.mu.old)
	l.mu.old, l.mu.young = l.mu.young, l.mu.old
	if l.mu.young == nil {
		l.mu.young = make(map[string]cachedWrite, maxCachedWrites)
	}
}

func (l *writeCache) tick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.age()
	if l.mu.ticking = len(l.mu.old) > 0; l.mu.ticking {
		time.AfterFunc(cachedWriteTTL, l.tick)
	} else {
		l.mu.old, l.mu.young = nil, nil
	}
}
