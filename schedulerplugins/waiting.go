package schedulerplugins

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// waitingPods are the pods whose binding waits for Permit plugins, of all profiles.
type waitingPods struct{ *byPod[*waitingPod] }

// longestWait bounds the time for which a Permit plugin may let a pod wait.
const longestWait = 15 * time.Minute

// add makes a pod wait for plugins, each with its time limit.
func (w waitingPods) add(pod *corev1.Pod, limits map[string]time.Duration) *waitingPod {
	p := &waitingPod{pod: pod, ended: make(chan struct{})}
	p.mu.pending = map[string]*time.Timer{}
	p.mu.Lock()
	for plugin, limit := range limits {
		p.mu.pending[plugin] = time.AfterFunc(limit, func() {
			p.Reject(plugin, fmt.Sprintf("rejected due to timeout after waiting %v at plugin %v", limit, plugin))
		})
	}
	p.mu.Unlock()
	w.set(pod.UID, p)
	return p
}

// waitingPod is a pod that waits for Permit plugins. The first of the last Allow, a Reject and a Preempt ends that.
type waitingPod struct {
	pod   *corev1.Pod
	ended chan struct{} // closed when status is set
	mu    struct {
		sync.Mutex
		pending map[string]*time.Timer // by plugin
		done    bool
		status  *fwk.Status
	}
}

var _ fwk.WaitingPod = &waitingPod{}

func (p *waitingPod) GetPod() *corev1.Pod { return p.pod }

func (p *waitingPod) GetPendingPlugins() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.mu.pending))
}

func (p *waitingPod) Allow(plugin string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if timer := p.mu.pending[plugin]; timer != nil {
		timer.Stop()
		delete(p.mu.pending, plugin)
	}
	if len(p.mu.pending) == 0 {
		p.end(nil)
	}
}

func (p *waitingPod) Reject(plugin, msg string) bool { return p.stop(fwk.Unschedulable, plugin, msg) }

func (p *waitingPod) Preempt(plugin, msg string) bool { return p.stop(fwk.Error, plugin, msg) }

func (p *waitingPod) stop(code fwk.Code, plugin, msg string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end(fwk.NewStatus(code, msg).WithPlugin(plugin))
}

// end ends the waiting, unless it has ended. p.mu is held.
func (p *waitingPod) end(s *fwk.Status) bool {
	if p.mu.done {
		return false
	}
	for _, timer := range p.mu.pending {
		timer.Stop()
	}
	p.mu.done, p.mu.status = true, s
	close(p.ended)
	return true
}

// wait returns the status with which the waiting ends; an error if ctx ends before.
func (p *waitingPod) wait(ctx context.Context) *fwk.Status {
	select {
	case <-p.ended:
	case <-ctx.Done():
		p.stop(fwk.Error, "", context.Cause(ctx).Error())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.status
}
