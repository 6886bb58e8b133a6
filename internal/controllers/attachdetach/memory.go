package attachdetach

import (
	"sync"
	"time"

	storagev1 "k8s.io/api/storage/v1"
)

// memory is what the objects do not say.
type memory struct {
	mu struct {
		sync.Mutex
		known map[string]*attachment
		// refused are the multi-attach errors that have been reported.
		refused map[refusal]bool
	}
}

// attachment is a VolumeAttachment that this controller may delete.
type attachment struct {
	// waiting reports that pods wait for it, and told is the last error that they were told, at a time.
	waiting bool
	told    string
	toldAt  time.Time
	// since is when it began to be unused; zero while it is used. detaching reports that the node's status must not list
	// the volume any more.
	since     time.Time
	detaching bool
	// unmounted reports that the node, which is gone, had not mounted the volume.
	unmounted bool
}

type refusal struct{ volume, node string }

// know adds a VolumeAttachment.
func (m *memory) know(va *storagev1.VolumeAttachment) {
	m.with(va.Name, func(*attachment) {})
}

// with calls f with a VolumeAttachment, which is added if it is not known.
func (m *memory) with(name string, f func(*attachment)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := m.mu.known[name]
	if at == nil {
		at = &attachment{}
		m.mu.known[name] = at
	}
	f(at)
}

// get returns the state of a VolumeAttachment.
func (m *memory) get(name string) (attachment, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, ok := m.mu.known[name]
	if !ok {
		return attachment{}, false
	}
	return *at, true
}

func (m *memory) forget(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.mu.known, name)
}

// left records whether a deleted node had a volume mounted.
func (m *memory) left(name string, mounted bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at := m.mu.known[name]; at != nil {
		at.unmounted = !mounted
	}
}

// refuse records a multi-attach error, and reports whether it is new.
func (m *memory) refuse(r refusal) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	was := m.mu.refused[r]
	m.mu.refused[r] = true
	return !was
}

// settle forgets the multi-attach errors of a volume except for nodes for which still returns true.
func (m *memory) settle(volume string, still func(node string) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for r := range m.mu.refused {
		if r.volume == volume && !still(r.node) {
			delete(m.mu.refused, r)
		}
	}
}
