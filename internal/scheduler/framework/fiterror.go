package framework

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"fairlead.dev/internal/scheduler/cache"
)

// A FitError explains why no node is feasible for a pod.
type FitError struct {
	Nodes      int               // of the cluster
	PreFilter  Status            // the rejection of the pod before any node was checked; success: see Reasons
	Reasons    map[string]int    // how many nodes each reason holds for
	Resolvable []*cache.NodeInfo // nodes that preemption may help
	RejectedBy []Filter          // the filters that rejected the pod; empty: there are no nodes
	PostFilter []string          // the results of PostFilter
	Preemption string            // the result of the preemption attempt
	// Chosen: a node was chosen, and the pod was rejected there.
	Chosen bool
	// Statuses are those of the rejected nodes, if the profile has an Extension.
	Statuses map[*cache.NodeInfo]Status
}

// Error is worded like kube-scheduler's.
func (e *FitError) Error() string {
	if e.Nodes == 0 {
		return "no nodes available to schedule pods"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "0/%d nodes are available:", e.Nodes)
	if !e.PreFilter.IsSuccess() {
		fmt.Fprintf(&b, " %s.", strings.Join(e.PreFilter.Reasons, ", "))
	} else {
		counted := make([]string, 0, len(e.Reasons))
		for _, reason := range slices.Collect(maps.Keys(e.Reasons)) {
			counted = append(counted, fmt.Sprintf("%d %s", e.Reasons[reason], reason))
		}
		slices.Sort(counted)
		fmt.Fprintf(&b, " %s.", strings.Join(counted, ", "))
	}
	after := e.PostFilter
	if e.Preemption != "" {
		after = append(slices.Clone(after), e.Preemption)
	}
	if len(after) > 0 {
		b.WriteString(" " + strings.Join(after, ", "))
	}
	return b.String()
}
