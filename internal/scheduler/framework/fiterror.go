package framework

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"fairlead.dev/internal/scheduler/cache"
)

// FitError says why a pod fits nowhere.
type FitError struct {
	Nodes      int               // how many there are
	PreFilter  Status            // against every node at once; zero: see Reasons
	Reasons    map[string]int    // how many nodes each reason holds for
	Resolvable []*cache.NodeInfo // where the pod might fit if others were gone
	RejectedBy []Filter          // who said no; none: there are no nodes
	Preemption string            // what came of the attempt to make room
}

// Error is worded as kube-scheduler does.
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
	if e.Preemption != "" {
		b.WriteString(" " + e.Preemption)
	}
	return b.String()
}
