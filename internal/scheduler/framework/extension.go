package framework

import (
	"context"

	"fairlead.dev/internal/scheduler/cache"
)

// An Extension runs plugins of another framework at those steps of an attempt that filters and scores do not have. A
// Profile has one at most. The methods are called on the goroutine of the scheduling cycle.
type Extension interface {
	// Begin starts an attempt to place a pod, before the first filter.
	Begin(c *cache.Cluster, p *cache.PodInfo)
	// BeginGroup is called before the attempts for the pods of a group, which are one attempt for the group, and end after them.
	// Permit follows for those that get their nodes.
	BeginGroup() (end func())
	// Attempt returns the attempt that Begin has started, and Resume goes on with it, after attempts for other pods.
	Attempt() any
	Resume(attempt any)
	// ScoreError returns the error that a score has met since Begin, which ends the attempt.
	ScoreError() error
	// PostFilter helps a pod that fits no node. It is called before the built-in preemption and, if that has found no
	// node, after it.
	PostFilter(c *cache.Cluster, p *cache.PodInfo, e *FitError, afterPreemption bool) Rescue
	// Permit is called when all Reservers have reserved for a pod that gets a node.
	Permit(c *cache.Cluster, p *cache.PodInfo, n *cache.NodeInfo) Permission
}

// A Rescue is the result of Extension.PostFilter.
type Rescue struct {
	// Done: no other plugin is asked, the built-in preemption included.
	Done bool
	// Node is that to which the pod is nominated; empty if it is not.
	Node string
	// Keep: the pod keeps the nomination it has, if Node is empty.
	Keep bool
	// Message is added to the pod's condition.
	Message string
}

// A Permission is the result of Extension.Permit. Its functions may be nil.
type Permission struct {
	// Status without success puts the pod back.
	Status Status
	// By is the filter that Status comes from.
	By Filter
	// Wait runs on a goroutine of its own before all PreBind functions, and returns the Status that the waiting ends
	// with. Events meanwhile count for the filters in Pending.
	Wait    func(ctx context.Context) (Status, Filter)
	Pending []Filter
	// Bind binds the pod on another goroutine, unless it returns false.
	Bind func(ctx context.Context) (bound bool, err error)
	// Bound is called after the binding, on the same goroutine.
	Bound func(ctx context.Context)
}

// RejectedOn returns the error of a pod that a filter has rejected after a node was chosen. No other node is tried and
// no preemption follows.
func RejectedOn(by Filter, v Status) *FitError {
	e := &FitError{Nodes: 1, Reasons: map[string]int{}, RejectedBy: []Filter{by}, Chosen: true}
	for _, reason := range v.Reasons {
		e.Reasons[reason] = 1
	}
	return e
}
