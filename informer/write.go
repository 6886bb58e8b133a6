package informer

// put applies an Added or Modified event, after which there are more at once or not.
func (s *Store[T]) put(obj T, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set(obj)
	s.advance(obj.GetResourceVersion())
	s.wakeReaders(more)
}

// remove applies a Deleted event.
func (s *Store[T]) remove(last T, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unset(keyOf(last), last)
	s.advance(last.GetResourceVersion())
	s.wakeReaders(more)
}

// bookmark only moves the revision.
func (s *Store[T]) bookmark(rev string, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance(rev)
	if s.mu.unheard > 0 {
		s.wakeReaders(more)
	}
}

// replace puts a complete list in place: it applies the differences, and logs them for the
// handlers.
func (s *Store[T]) replace(list *listing[T], rev string) {
	byName, inOrder := list.objects()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.mu.listed {
		s.replaceFirst(byName, inOrder)
	} else {
		for ns, m := range s.mu.objects {
			for name, old := range m {
				if _, ok := byName.get(ns, name); !ok {
					s.unset(keyOf(old), old)
				}
			}
		}
		for _, obj := range inOrder {
			s.set(obj)
		}
	}
	// A server set back to an older state counts: the revision may go down here.
	s.advance(rev)
	s.wakeReaders(false)
}

// replaceFirst takes the first list over as it is; s.mu is held.
func (s *Store[T]) replaceFirst(byName objects[T], inOrder []T) {
	s.mu.objects = byName
	for _, obj := range inOrder {
		s.guard.remember(obj)
	}
	for _, ix := range s.mu.indexes {
		for _, obj := range inOrder {
			ix.put(obj)
		}
	}
	s.mu.listed = true
	if len(s.mu.readers) == 0 {
		s.mu.syncDone = true
		close(s.synced)
		return
	}
	for _, rd := range s.mu.readers {
		rd.joined, rd.initial, rd.first = true, inOrder, true
		s.mu.telling++
	}
}

// set stores obj and records the change, if it is one; s.mu is held.
func (s *Store[T]) set(obj T) {
	old, exists := s.mu.objects.get(obj.GetNamespace(), obj.GetName())
	var steps [2]delta[T]
	ds := appendChange(steps[:0], lastNotified[T]{old, exists}, lastNotified[T]{obj, true})
	if len(ds) == 0 {
		return
	}
	if exists {
		s.guard.checkLast(old)
	}
	s.guard.remember(obj)
	s.mu.objects.put(obj)
	for _, ix := range s.mu.indexes {
		if exists {
			ix.replace(old, obj)
		} else {
			ix.put(obj)
		}
	}
	for _, d := range ds {
		s.record(d)
	}
}

// unset removes the object at k; last is its last state. s.mu is held.
func (s *Store[T]) unset(k key, last T) {
	old, exists := s.mu.objects.get(k.Namespace, k.Name)
	if !exists {
		return
	}
	s.guard.checkLast(old)
	s.mu.objects.remove(k.Namespace, k.Name)
	for _, ix := range s.mu.indexes {
		ix.remove(old)
	}
	s.record(delta[T]{kind: deleted, old: last})
}

// wakeReaders wakes the readers, unless there are more changes at once: waking each of them for
// each change would cost more than the change. s.mu is held.
func (s *Store[T]) wakeReaders(more bool) {
	if s.mu.unheard++; more && s.mu.unheard < batch {
		return
	}
	s.mu.unheard = 0
	for _, rd := range s.mu.readers {
		rd.ring()
	}
}

// wakeBehind wakes readers with unread changes, at the end of a stream.
func (s *Store[T]) wakeBehind() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.unheard > 0 {
		s.wakeReaders(false)
	}
}
