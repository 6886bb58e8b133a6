package why

import (
	"fmt"
	"strings"
	"time"
)

// node explains whether a node is ready, and if not, since when and why.
func (a *Explanation) node(s *Subject) {
	ready := s.condition("Ready")
	switch {
	case ready == nil:
		a.State, a.Waits = "is Unknown", true
		a.problem(s, "no kubelet has reported a status for it", "start its kubelet, or delete the node")
	case str(ready["status"]) == "True":
		a.State = "is Ready"
	default:
		a.State, a.Waits = "is NotReady", true
		if str(ready["status"]) == "Unknown" {
			a.State = "is Unknown"
		}
		if since := str(ready["lastTransitionTime"]); since != "" {
			a.State += " since " + since
		}
	}
	if s.at("spec", "unschedulable") == true {
		a.State += ", SchedulingDisabled"
		a.Reasons = append(a.Reasons, "it is cordoned: spec.unschedulable is true")
	}
	if !a.Waits {
		return
	}
	a.nodeLease(s)
	for _, t := range s.list("spec", "taints") {
		name := str(t["key"])
		if v := str(t["value"]); v != "" {
			name += "=" + v
		}
		does := map[string]string{
			"NoSchedule": "keeps new pods away", "PreferNoSchedule": "makes the scheduler avoid it", "NoExecute": "evicts the pods that do not tolerate it",
		}[str(t["effect"])]
		since := ""
		if added := str(t["timeAdded"]); added != "" {
			since = " since " + added
		}
		a.Reasons = append(a.Reasons, strings.TrimSpace(fmt.Sprintf("taint %s:%s %s%s", name, str(t["effect"]), does, since)))
	}
}

// nodeLease explains by the node's lease why a node is not ready.
func (a *Explanation) nodeLease(s *Subject) {
	for _, p := range s.Parts {
		if p.Kind != "Lease" {
			continue
		}
		if p.Object == nil {
			a.Reasons = append(a.Reasons, "it has no lease in kube-node-lease, so no kubelet runs for it")
		} else if renewed, late := p.renewed(); late {
			a.Reasons = append(a.Reasons, fmt.Sprintf("its kubelet has not renewed its lease since %s, %v ago", renewed.Format(time.RFC3339), time.Since(renewed).Round(time.Second)))
		}
	}
}

// renewed returns the time of a lease's last renewal, and whether the lease has expired.
func (s *Subject) renewed() (at time.Time, late bool) {
	at, err := time.Parse(time.RFC3339Nano, s.text("spec", "renewTime"))
	if err != nil {
		return time.Time{}, true
	}
	return at, time.Since(at) > time.Duration(s.number("spec", "leaseDurationSeconds"))*time.Second
}

// lease names the holder of a lease and the time of its last renewal.
func (a *Explanation) lease(s *Subject) {
	renewed, late := s.renewed()
	holder := s.text("spec", "holderIdentity")
	if holder == "" || renewed.IsZero() {
		a.State = "has no holder"
		return
	}
	a.State = fmt.Sprintf("is held by %s, renewed %v ago", holder, time.Since(renewed).Round(time.Second))
	if late {
		a.Waits = true
		a.problem(s, fmt.Sprintf("it has expired: it lasts %d s", s.number("spec", "leaseDurationSeconds")), "")
	}
}
