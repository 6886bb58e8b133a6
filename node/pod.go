package node

import (
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/node/admission"
	"fairlead.dev/internal/node/lifecycle"
	"fairlead.dev/internal/node/objectcache"
	"fairlead.dev/internal/node/stage"
	"fairlead.dev/trace"
)

// pod is a pod of a node. The node's lock guards it.
type pod struct {
	latest *corev1.Pod // the server's version, as last seen
	// decided is latest with its next change, from before the write until the next version is
	// seen: a node knows the state of its containers before the server does.
	decided    *corev1.Pod
	ip         netip.Addr        // zero until the pod starts
	admitted   bool              // the node has admitted the pod
	ending     *lifecycle.Ending // nil unless the node ends it
	plays      bool              // its usage is declared
	allocation admission.Allocation
	probing    *lifecycle.Probing
	// choice, backOff, released and mounting are owned by the worker that holds the pod in the queue work.
	choice   stage.Choice
	backOff  lifecycle.BackOff
	released bool
	mounting time.Time // since when it waits for its volumes, or since the last event about that; zero if it does not
	// changed is closed by the next version; nil as long as no caller waits for it.
	changed chan struct{}
	ends    time.Time       // when its containers exit, more precisely than the whole seconds of the status
	objects objectcache.Use // guarded by the cache
	// handed is when the latest version was queued, for the trace; 0 once a worker has it.
	handed trace.Instant
}

// view returns the pod as its node knows it. The node's lock is held; so below.
func (p *pod) view() *corev1.Pod {
	if p.decided != nil {
		return p.decided
	}
	return p.latest
}

// become stores a version that the server has.
func (p *pod) become(latest *corev1.Pod) {
	p.latest, p.decided = latest, nil
	p.news()
}

// news wakes those that wait for a newer version of the pod.
func (p *pod) news() {
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}
