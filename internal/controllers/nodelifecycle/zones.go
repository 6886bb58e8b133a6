package nodelifecycle

import (
	"cmp"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const (
	largeZone     = 50   // above that number of nodes, a bad zone is slowed down instead of stopped
	unhealthyZone = 0.55 // the share of NotReady nodes that makes a zone bad
	slowdown      = 10
	excluded      = "node.kubernetes.io/exclude-disruption"
)

// zones decides when a node may be tainted NoExecute. It counts the ready nodes of each zone; of the waiting nodes
// of a zone, only the first has a timer.
type zones struct {
	pace time.Duration
	// wake makes a node ask again after that time.
	wake func(node string, after time.Duration)

	mu struct {
		sync.Mutex
		nodes          map[string]standing
		zones          map[string]*zone
		counted, ready int // of all zones
	}
}

// standing is how a node counts.
type standing struct {
	zone           string
	counted, ready bool
	waits          bool
}

type zone struct {
	counted, ready int
	queue          []string  // nodes that wait to be tainted
	free           time.Time // when the next one may be tainted
}

func newZones(pace time.Duration, wake func(string, time.Duration)) *zones {
	z := &zones{pace: pace, wake: wake}
	z.mu.nodes = map[string]standing{}
	z.mu.zones = map[string]*zone{}
	return z
}

// zoneOf returns a node's zone with its region, because regions may use the same zone names.
func zoneOf(n *corev1.Node) string {
	zone, ok := n.Labels[corev1.LabelFailureDomainBetaZone]
	if !ok {
		zone = n.Labels[corev1.LabelTopologyZone]
	}
	region, ok := n.Labels[corev1.LabelFailureDomainBetaRegion]
	if !ok {
		region = n.Labels[corev1.LabelTopologyRegion]
	}
	return region + "/" + zone // label values have no slash
}

// set records a node's state. It reports whether that was the last node to become NotReady, or the first one to
// become ready again.
func (z *zones) set(n *corev1.Node) (turned bool) {
	_, out := n.Labels[excluded]
	return z.put(n.Name, standing{zone: zoneOf(n), counted: !out, ready: isReady(n)})
}

// drop removes a node, and returns set's result.
func (z *zones) drop(node string) (turned bool) { return z.put(node, standing{}) }

func (z *zones) put(node string, is standing) (turned bool) {
	z.mu.Lock()
	defer z.mu.Unlock()
	was, known := z.mu.nodes[node]
	before := z.downLocked()
	if was.waits && is.zone != was.zone {
		z.leaveLocked(node)
		was.waits = false
	}
	if known {
		z.countLocked(was, -1)
	}
	if is == (standing{}) {
		delete(z.mu.nodes, node)
	} else {
		is.waits = was.waits
		z.mu.nodes[node] = is
		z.countLocked(is, 1)
	}
	return before != z.downLocked()
}

// countLocked adds a node to its zone or removes it, and wakes the first waiting node if the zone's pace has
// changed.
func (z *zones) countLocked(s standing, by int) {
	if !s.counted {
		return
	}
	x := z.zoneLocked(s.zone)
	before := z.paceLocked(x)
	x.counted += by
	z.mu.counted += by
	if s.ready {
		x.ready += by
		z.mu.ready += by
	}
	if z.paceLocked(x) != before && len(x.queue) > 0 {
		z.wake(x.queue[0], time.Until(x.free))
	}
	if x.counted == 0 && len(x.queue) == 0 && time.Now().After(x.free) {
		delete(z.mu.zones, s.zone)
	}
}

func (z *zones) zoneLocked(name string) *zone {
	x := z.mu.zones[name]
	if x == nil {
		x = &zone{}
		z.mu.zones[name] = x
	}
	return x
}

// down reports whether no node is ready.
func (z *zones) down() bool {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.downLocked()
}

func (z *zones) downLocked() bool { return z.mu.counted > 0 && z.mu.ready == 0 }

// paceLocked returns the time between two taints in a zone; 0 means never.
func (z *zones) paceLocked(x *zone) time.Duration {
	bad := x.counted - x.ready
	switch {
	case z.downLocked():
		return 0
	case x.ready > 0 && bad > 2 && float64(bad) >= unhealthyZone*float64(x.counted):
		if x.counted > largeZone {
			return slowdown * z.pace
		}
		return 0
	}
	return z.pace
}

// turn reports whether the node may be tainted now. If not, the node is woken when it may be.
func (z *zones) turn(node string) bool {
	z.mu.Lock()
	defer z.mu.Unlock()
	s, ok := z.mu.nodes[node]
	if !ok {
		return false
	}
	x := z.zoneLocked(s.zone)
	if !s.waits {
		s.waits = true
		z.mu.nodes[node] = s
		x.queue = append(x.queue, node)
	}
	if x.queue[0] != node || z.paceLocked(x) == 0 {
		return false
	}
	if d := time.Until(x.free); d > 0 {
		z.wake(node, d)
		return false
	}
	return true
}

// tainted records that a node was tainted.
func (z *zones) tainted(node string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	s, ok := z.mu.nodes[node]
	if !ok {
		return
	}
	x := z.zoneLocked(s.zone)
	x.free = time.Now().Add(cmp.Or(z.paceLocked(x), z.pace))
	z.leaveLocked(node)
}

// leave removes a node from the waiting ones.
func (z *zones) leave(node string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.leaveLocked(node)
}

func (z *zones) leaveLocked(node string) {
	s := z.mu.nodes[node]
	if !s.waits {
		return
	}
	s.waits = false
	z.mu.nodes[node] = s
	x := z.zoneLocked(s.zone)
	i := slices.Index(x.queue, node)
	x.queue = slices.Delete(x.queue, i, i+1)
	if i == 0 && len(x.queue) > 0 && z.paceLocked(x) != 0 {
		z.wake(x.queue[0], time.Until(x.free))
	}
}

// all names every node.
func (z *zones) all() []string {
	z.mu.Lock()
	defer z.mu.Unlock()
	names := make([]string, 0, len(z.mu.nodes))
	for name := range z.mu.nodes {
		names = append(names, name)
	}
	return names
}
