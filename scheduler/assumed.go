package scheduler

import (
	"context"
	"slices"

	"fairlead.dev/internal/scheduler/framework"
	"fairlead.dev/internal/scheduler/queue"
)

// assumedPod is a pod that was given a node and whose binding is not confirmed yet.
type assumedPod struct {
	*queue.QueuedPodInfo
	node    string
	preBind []func(context.Context) error // to be called before the binding
	// unreserve is to be called, on the goroutine of preBind, if the pod is not bound after all.
	unreserve []func(context.Context)
	release   []func() // to be called when the pod is bound, or will not be
	permit    framework.Permission
	attempt   any                // of the Extension, for a pod of a group
	cancel    context.CancelFunc // cancels preBind
}

// assume keeps a pod that has been given its node until the binding is confirmed.
func (s *loop) assume(p *assumedPod) {
	s.assumed[p.PodInfo.Pod.UID] = p
	s.groups.assume(p.PodInfo.Pod, p.node)
}

// runPreBind runs the PreBind functions until one fails.
func (p *assumedPod) runPreBind(ctx context.Context) error {
	for _, f := range p.preBind {
		if err := f(ctx); err != nil {
			return err
		}
	}
	return nil
}

// takeBack takes back the writes of preBind.
func (p *assumedPod) takeBack(ctx context.Context) {
	for _, f := range p.unreserve {
		f(ctx)
	}
}

// undo releases the reservations, the last one first.
func (p *assumedPod) undo() {
	for _, f := range slices.Backward(p.release) {
		f()
	}
	p.release = nil
	if p.cancel != nil {
		p.cancel()
	}
}
