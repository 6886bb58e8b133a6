package devices

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/structured"
)

// A Request asks for devices for some claims of a pod, on any node.
type Request struct {
	state   *State
	claims  []*resourcev1.ResourceClaim
	timeout time.Duration
	answers map[string]answer // by node
}

// An answer is the result of a Request on a node.
type answer struct {
	node    *corev1.Node
	changed uint64 // the last change of the node's devices before the answer, by State.clock
	fits    bool
	score   int64
	err     error
}

// An OnNodeError is the reason for which claims do not fit one node, while others may fit.
type OnNodeError struct{ err error }

func (e OnNodeError) Error() string { return e.err.Error() }

// Ask returns the request for claims without allocation. A search on a node that takes longer than the timeout fails;
// 0 means no limit.
func (s *State) Ask(claims []*resourcev1.ResourceClaim, timeout time.Duration) *Request {
	return &Request{state: s, claims: claims, timeout: timeout, answers: s.answers.to(claims)}
}

// Fits reports whether the devices for all claims are free for a node, and the score of the alternatives that would be
// chosen there. An OnNodeError is about the node; another error is about the claims or their classes.
func (r *Request) Fits(node *corev1.Node) (fits bool, score int64, err error) {
	changed, _ := r.state.lastChange(node.Name)
	if a, ok := r.answers[node.Name]; ok && a.changed == changed && a.node == node {
		return a.fits, a.score, a.err
	}
	results, err := r.Allocate(node)
	a := answer{node: node, changed: changed, fits: results != nil, err: err}
	if a.fits {
		a.score = Score(r.claims, results)
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		r.answers[node.Name] = a
	}
	return a.fits, a.score, a.err
}

// Allocate chooses devices for all claims on a node: one result for each, or nil if they do not fit. The devices stay free.
func (r *Request) Allocate(node *corev1.Node) ([]resourcev1.AllocationResult, error) {
	ctx := context.Background()
	if r.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.timeout)
		defer cancel()
	}
	s := r.state
	_, shown := s.lastChange(node.Name)
	allocator, err := structured.NewAllocator(ctx, s.Features, s.allocatedFor(node.Name), lister{s}, s.slicesFor(node.Name, shown), s.compiled())
	if err != nil {
		return nil, err
	}
	results, err := allocator.Allocate(ctx, node, r.claims)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("node %s: timed out trying to allocate devices: %w", node.Name, context.DeadlineExceeded)
	case errors.Is(err, structured.ErrFailedAllocationOnNode):
		s.reportProblems(node.Name)
		return nil, OnNodeError{err}
	case err != nil:
		return nil, err
	case len(results) != len(r.claims):
		s.reportProblems(node.Name)
		return nil, nil
	}
	return results, nil
}
