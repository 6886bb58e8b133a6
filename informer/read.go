package informer

import (
	"context"
	"slices"

	"fairlead.dev/client"
)

// addReader gives a handler its position: the present.
func (s *Store[T]) addReader(h Handler[T]) *reader[T] {
	rd := &reader[T]{h: h, g: s.guard, bell: make(chan struct{}, 1), gone: make(chan struct{})}
	rd.reg = &Registration{
		synced: make(chan struct{}),
		remove: func() { s.removeReader(rd) },
		lag:    func() int { return s.lag(rd) },
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	rd.pos = s.mu.log.head
	s.mu.readers = append(s.mu.readers, rd)
	if s.mu.listed {
		rd.joined, rd.initial = true, s.mu.objects.list("")
	}
	return rd
}

func (s *Store[T]) readers() []*reader[T] {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return append([]*reader[T](nil), s.mu.readers...)
}

func (s *Store[T]) removeReader(rd *reader[T]) {
	rd.once.Do(func() {
		close(rd.gone)
		s.mu.Lock()
		defer s.mu.Unlock()
		for i, r := range s.mu.readers {
			if r == rd {
				s.mu.readers = append(s.mu.readers[:i:i], s.mu.readers[i+1:]...)
				break
			}
		}
		s.markSynced(rd)
	})
}

func (s *Store[T]) lag(rd *reader[T]) int {
	s.mu.Lock() // not RLock: under that the reader moves pos
	defer s.mu.Unlock()
	if !slices.Contains(s.mu.readers, rd) {
		return 0
	}
	n := len(rd.initial) + len(rd.behind)
	if rd.behind == nil {
		n += int(s.mu.log.head - rd.pos)
	}
	return n
}

// isJoining reports whether the reader has yet to read its initial state.
func (s *Store[T]) isJoining(rd *reader[T]) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	select {
	case <-rd.reg.synced:
		return false
	default:
		return rd.joined
	}
}

// finishJoining records that the reader has processed its initial state.
func (s *Store[T]) finishJoining(rd *reader[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rd.initial = nil
	close(rd.reg.synced)
	s.markSynced(rd)
}

// markSynced takes the reader off those that synced waits for; s.mu is held.
func (s *Store[T]) markSynced(rd *reader[T]) {
	if rd.first {
		rd.first = false
		s.mu.telling--
	}
	if s.mu.listed && s.mu.telling == 0 && !s.mu.syncDone {
		s.mu.syncDone = true
		close(s.synced)
	}
}

// nextChanges returns the next changes for the reader, in buf if they come from the log, and
// buf itself, to be used again.
func (s *Store[T]) nextChanges(rd *reader[T], buf []delta[T]) (some, _ []delta[T]) {
	s.mu.RLock()
	if rd.behind == nil {
		defer s.mu.RUnlock()
		for rd.pos < s.mu.log.head && len(buf) < batch {
			buf = append(buf, *s.mu.log.at(rd.pos))
			rd.pos++
		}
		return buf, buf
	}
	s.mu.RUnlock()
	return s.catchUp(rd), buf
}

// catchUp puts a reader that fell off the log back at its end, and returns the changes that
// it missed.
func (s *Store[T]) catchUp(rd *reader[T]) []delta[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	missed := make([]delta[T], 0, len(rd.behind))
	for k, t := range rd.behind {
		now, exists := s.mu.objects.get(k.Namespace, k.Name)
		missed = appendChange(missed, t, lastNotified[T]{now, exists})
	}
	rd.behind, rd.pos = nil, s.mu.log.head
	return missed
}

// appendChange appends the calls that lead from one state of an object to another.
func appendChange[T client.Object](ds []delta[T], from, to lastNotified[T]) []delta[T] {
	switch {
	case !from.known && !to.known:
		return ds
	case !from.known:
		return append(ds, delta[T]{kind: added, new: to.obj})
	case !to.known:
		return append(ds, delta[T]{kind: deleted, old: from.obj})
	case from.obj.GetUID() != to.obj.GetUID():
		return append(ds, delta[T]{kind: deleted, old: from.obj}, delta[T]{kind: added, new: to.obj})
	case from.obj.GetResourceVersion() == to.obj.GetResourceVersion():
		return ds
	}
	return append(ds, delta[T]{kind: updated, old: from.obj, new: to.obj})
}

// resync calls Update(obj, obj) for each object; see Options.Resync.
func (rd *reader[T]) resync(ctx context.Context, s *Store[T]) {
	select {
	case <-rd.reg.synced:
	default:
		return
	}
	if rd.h.Update == nil {
		return
	}
	for _, obj := range s.List("") {
		if rd.isStopped(ctx) {
			return
		}
		rd.h.Update(obj, obj)
		rd.g.check(obj, "by the handler's Update or during it")
	}
}
