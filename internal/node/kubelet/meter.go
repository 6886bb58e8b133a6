package kubelet

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/node/kwok"
)

// meter integrates the usage of containers from one reading to the next, so that no counter ever
// decreases when definitions and annotations change.
type meter struct {
	mu struct {
		sync.Mutex
		nodes map[string]*nodeCount
	}
}

// level is an amount of each resource: cores and bytes, or these times seconds.
type level struct{ cpu, memory float64 }

func (l *level) add(o level) { l.cpu, l.memory = l.cpu+o.cpu, l.memory+o.memory }

func (l level) of(resource string) float64 {
	switch resource {
	case string(corev1.ResourceCPU):
		return l.cpu
	case string(corev1.ResourceMemory):
		return l.memory
	}
	return 0
}

// nodeCount is the sum of a node's usage.
type nodeCount struct {
	past level // of removed pods
	pods map[types.UID]*podCount
}

type podCount struct {
	past  level // of ended instances of containers
	lives map[string]*life
}

// life is one instance of a container, between two restarts.
type life struct {
	id    string
	until time.Time // the end of the counted time
	total level
}

// used is a present usage and its integral over time.
type used struct{ now, total level }

func (u *used) add(o used) {
	u.now.add(o.now)
	u.total.add(o.total)
}

// reading is the meter's result for a node at a time; it implements expr.Meter.
type reading struct {
	at      time.Time
	node    used
	pods    []podReading
	byPod   map[types.UID]*podReading
	started int64
}

type podReading struct {
	*corev1.Pod
	used
	containers []containerReading // running ones
}

type containerReading struct {
	name    string
	started time.Time
	used
}

func (r reading) find(pod *corev1.Pod, container string) (u used) {
	if pod == nil {
		return r.node
	}
	p := r.byPod[pod.UID]
	if p == nil {
		return u
	}
	if container == "" {
		return p.used
	}
	for i := range p.containers {
		if p.containers[i].name == container {
			return p.containers[i].used
		}
	}
	return u
}

func (r reading) Usage(resource string, pod *corev1.Pod, container string) float64 {
	return r.find(pod, container).now.of(resource)
}

func (r reading) Cumulative(resource string, pod *corev1.Pod, container string) float64 {
	return r.find(pod, container).total.of(resource)
}

func (r reading) Started() int64 { return r.started }

// read counts the usage of the pods of a node until now.
func (m *meter) read(name string, pods []*corev1.Pod, defs *kwok.Definitions, now time.Time) reading {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mu.nodes == nil {
		m.mu.nodes = map[string]*nodeCount{}
	}
	node := m.mu.nodes[name]
	if node == nil {
		node = &nodeCount{pods: map[types.UID]*podCount{}}
		m.mu.nodes[name] = node
	}
	r := reading{at: now, byPod: map[types.UID]*podReading{}, pods: make([]podReading, 0, len(pods))}
	for _, p := range pods {
		for i := range p.Status.ContainerStatuses {
			if s := &p.Status.ContainerStatuses[i]; s.ContainerID != "" {
				r.started += int64(s.RestartCount) + 1
			}
		}
		if p.Status.Phase != corev1.PodRunning {
			continue
		}
		count := node.pods[p.UID]
		if count == nil {
			count = &podCount{lives: map[string]*life{}}
			node.pods[p.UID] = count
		}
		r.pods = append(r.pods, count.read(p, defs, now))
		r.byPod[p.UID] = &r.pods[len(r.pods)-1]
		r.node.add(r.pods[len(r.pods)-1].used)
	}
	for uid, count := range node.pods {
		if r.byPod[uid] == nil {
			node.past.add(count.total())
			delete(node.pods, uid)
		}
	}
	r.node.total.add(node.past)
	return r
}

func (c *podCount) total() level {
	sum := c.past
	for _, l := range c.lives {
		sum.add(l.total)
	}
	return sum
}

// read counts the usage of the running containers of a pod.
func (c *podCount) read(p *corev1.Pod, defs *kwok.Definitions, now time.Time) podReading {
	r := podReading{Pod: p}
	for i := range p.Spec.Containers {
		spec := &p.Spec.Containers[i]
		s := status(p, spec.Name)
		if s == nil || s.State.Running == nil {
			continue
		}
		began := s.State.Running.StartedAt.Time
		l := c.lives[spec.Name]
		if l == nil || l.id != s.ContainerID {
			if l != nil {
				c.past.add(l.total)
			}
			l = &life{id: s.ContainerID, until: began}
			c.lives[spec.Name] = l
		}
		use := defs.Use(p, spec)
		rate := level{use.Cpu().AsApproximateFloat64(), use.Memory().AsApproximateFloat64()}
		if passed := now.Sub(l.until).Seconds(); passed > 0 {
			l.total.add(level{rate.cpu * passed, rate.memory * passed})
			l.until = now
		}
		one := containerReading{spec.Name, began, used{rate, l.total}}
		r.containers = append(r.containers, one)
		r.now.add(rate)
	}
	r.total = c.total()
	return r
}
