package schedulerplugins

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
)

// preBinding are the pods in PreBind, which plugins may cancel.
type preBinding struct{ *byPod[*podInPreBind] }

// start returns the context of a pod's PreBind. end is to be called after it.
func (b preBinding) start(ctx context.Context, uid types.UID) (of context.Context, end func()) {
	of, cancel := context.WithCancelCause(ctx)
	p := &podInPreBind{cancel: cancel}
	b.set(uid, p)
	return of, func() {
		p.MarkPrebound()
		b.remove(uid)
	}
}

// podInPreBind is a pod in PreBind.
type podInPreBind struct {
	cancel context.CancelCauseFunc
	mu     struct {
		sync.Mutex
		canceled, finished bool
	}
}

var _ fwk.PodInPreBind = &podInPreBind{}

func (p *podInPreBind) CancelPod(reason string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.finished {
		return false
	}
	p.mu.canceled = true
	p.cancel(fmt.Errorf("%w: %s", errCanceled, reason))
	return true
}

func (p *podInPreBind) MarkPrebound() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.canceled {
		return false
	}
	p.mu.finished = true
	return true
}

var errCanceled = errors.New("canceled in PreBind")
