package backends

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/controller"
)

// Triggers records, per Service, which changes have been written, and returns for each write the time of its
// earliest change: the start of the delay that consumers of endpoints measure.
type Triggers struct {
	mu struct {
		sync.Mutex
		seen map[controller.Key]seen
	}
}

type seen struct {
	service time.Time
	pods    map[string]time.Time
}

// Next returns the time of the earliest change since the last call, or zero.
func (t *Triggers) Next(svc *corev1.Service, pods []*corev1.Pod) time.Time {
	now := seen{service: svc.CreationTimestamp.Time, pods: make(map[string]time.Time, len(pods))}
	for _, p := range pods {
		if at := LastChange(p); !at.IsZero() {
			now.pods[p.Name] = at
		}
	}
	k := controller.Key{Namespace: svc.Namespace, Name: svc.Name}
	t.mu.Lock()
	if t.mu.seen == nil {
		t.mu.seen = make(map[controller.Key]seen)
	}
	last := t.mu.seen[k]
	t.mu.seen[k] = now
	t.mu.Unlock()

	var earliest time.Time
	note := func(at, before time.Time) {
		if at.After(before) && (earliest.IsZero() || at.Before(earliest)) {
			earliest = at
		}
	}
	for name, at := range now.pods {
		note(at, last.pods[name])
	}
	note(now.service, last.service)
	return earliest
}

// Forget drops a Service.
func (t *Triggers) Forget(k controller.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.mu.seen, k)
}
