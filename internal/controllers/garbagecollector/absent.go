package garbagecollector

import "sync"

// absences remembers the last few hundred identities that are known not to exist: after an owner of many is
// deleted, its dependents need not each ask the server for it. An identity contains a UID, and UIDs are never
// reused.
type absences struct {
	mu struct {
		sync.Mutex
		young, old map[identity]struct{}
	}
}

const absencesKept = 500

func (a *absences) add(id identity) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.mu.young == nil || len(a.mu.young) >= absencesKept {
		a.mu.young, a.mu.old = make(map[identity]struct{}), a.mu.young
	}
	a.mu.young[id] = struct{}{}
}

func (a *absences) has(id identity) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, young := a.mu.young[id]
	_, old := a.mu.old[id]
	return young || old
}
