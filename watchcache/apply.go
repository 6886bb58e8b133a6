package watchcache

import (
	"fmt"
	"strings"
	"time"

	"fairlead.dev/internal/watchcache/change"
	"fairlead.dev/internal/watchcache/follow"
	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/storage"
	"fairlead.dev/trace"

	"github.com/tidwall/btree"
)

var _ follow.Sink = (*state)(nil)

// Apply implements follow.Sink.
func (s *state) Apply(ev *storage.Event, now int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.err != nil {
		return
	}
	ch := change.Change{Revision: ev.Revision(), At: now}
	if ev.Type == storage.Put {
		ch.New = s.resource.object(ev.KV)
	}
	if ch.New != nil {
		ch.Old, _ = s.mu.tree.Set(ev.KV.Key, ch.New)
	} else {
		ch.Old, _ = s.mu.tree.Delete(ev.KV.Key)
	}
	s.mu.last = ch.Revision
	if ch.Old == nil && ch.New == nil {
		return
	}
	s.snap.Store(nil)
	if s.mu.lapses.note(&ch) {
		s.endCovering(&ch)
	}
	s.mu.indexes.Apply(ch.Old, ch.New)
	s.mu.topics.Append(&ch, s.mu.history.End())
	s.trace(&ch)
	if s.mu.history.Append(&ch) {
		s.backlog.pack(s)
	}
	s.expire(now)
}

// endCovering ends the watchers of ranges that hold the change's new state, which is unreadable.
func (s *state) endCovering(ch *change.Change) {
	err := s.resource.unreadableError([]*Object{ch.New})
	if ch.Old == nil || object.Readable(ch.Old) { // otherwise it is in the log already
		s.opts.Log.Error("stored object cannot be read", "resource", s.resource.name, "key", ch.New.Key(), "revision", ch.New.Revision(), "error", err.Objects[0].Err)
	}
	s.mu.topics.EndCovering(ch.New, err)
}

// trace reports the change to the trace.
func (s *state) trace(ch *change.Change) {
	l := s.opts.Trace
	if l == nil {
		return
	}
	t := trace.Modified
	switch {
	case ch.Old == nil:
		t = trace.Added
	case ch.New == nil:
		t = trace.Deleted
	}
	l.Cached(int64(ch.Revision), s.resource.name, ch.Object().Key()[len(s.resource.opts.Prefix):], t, int(ch.Topics), l.Now())
}

// expire drops the changes that are older than the history or exceed its size.
func (s *state) expire(now int64) {
	if s.mu.history.Expire(now-int64(s.opts.History), s.opts.HistoryBytes) {
		s.mu.topics.Cut(s.mu.history.First())
	}
}

// Expire implements follow.Sink.
func (s *state) Expire(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(now.UnixNano())
	s.mu.past.expire(now)
	s.rescan()
	if s.unsettled(now.UnixNano()) {
		s.backlog.pack(s)
	}
}

// Begin implements follow.Sink.
func (s *state) Begin(rev storage.Revision) bool {
	if s.begin == nil || s.begin.rev != rev {
		return false
	}
	s.resource.decodeErrors.Add(int64(len(s.begin.unreadable)))
	s.reset(copyOf(s.begin.tree), s.begin.unreadable, rev)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.history.Share(rev)
	s.settling.settled.scanning = false // they are not of this cache alone
	return true
}

// reset replaces the state by the objects at a revision, and ends all watchers.
func (s *state) reset(tree *btree.Map[string, *Object], unreadable []*Object, rev storage.Revision) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin = nil
	s.mu.topics.End(storage.ErrCompacted)
	s.mu.err = nil
	s.mu.tree, s.mu.lapses = tree, lapsesOf(unreadable)
	s.logUnreadable(unreadable)
	s.mu.last = rev
	s.mu.history.Reset(rev)
	s.mu.indexes.Reset()
	s.mu.past = nil
	s.snap.Store(nil)
	s.settling.settled = settled{next: s.mu.history.End(), scanning: true}
}

// maxNamed bounds the keys in one line of the log.
const maxNamed = 20

// logUnreadable logs the unreadable objects among those loaded in one line.
func (s *state) logUnreadable(objects []*Object) {
	if len(objects) == 0 {
		return
	}
	names := []string{}
	for _, o := range objects[:min(len(objects), maxNamed)] {
		names = append(names, o.Key())
	}
	s.opts.Log.Error("stored objects cannot be read", "resource", s.resource.name, "count", len(objects), "keys", strings.Join(names, " "), "error", object.ReadError(objects[0]))
}

// End implements follow.Sink: the cache ends permanently.
func (s *state) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.err = fmt.Errorf("%s: %w", s.resource.opts.Resource, storage.ErrClosed)
	s.mu.topics.End(s.mu.err)
	s.snap.Store(nil)
}

// pack packs the history except its newest part, and settles objects. It reports whether there are more of these. One
// goroutine at a time calls it.
func (s *state) pack(now time.Time) (more bool) {
	s.mu.RLock()
	p := s.mu.history.Unpacked()
	s.mu.RUnlock()
	p.Pack()
	s.mu.Lock()
	s.mu.history.SetPacked(&p)
	s.mu.Unlock()
	return s.settle(now.UnixNano())
}
