package why

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// MaxParts is the maximum number of parts that are explained in full. Of further parts the
	// explanation has only their number, and the number of those that wait.
	MaxParts = 5
	maxNotes = 5
)

// WaitingFirst sorts waiting parts first and keeps the order otherwise.
func WaitingFirst(all []Subject) []Subject {
	var waiting, rest []Subject
	for _, s := range all {
		if s.waits() {
			waiting = append(waiting, s)
		} else {
			rest = append(rest, s)
		}
	}
	return append(waiting, rest...)
}

// Explain explains a subject's state.
func Explain(s Subject) Explanation {
	a := Explanation{Kind: s.Kind, Resource: s.Resource, Namespace: s.Namespace, Name: s.Name}
	switch {
	case s.Object == nil:
		a.missing(&s)
	case s.text("metadata", "deletionTimestamp") != "":
		a.terminating(&s)
	default:
		a.progress(&s)
	}
	a.Observations = observations(&s)
	if s.Object != nil && !slices.ContainsFunc(a.Observations, func(w Observation) bool { return w.Key != "" }) {
		a.noController(&s)
	}
	a.Notes = s.Events[max(0, len(s.Events)-maxNotes):]
	parts := WaitingFirst(s.Parts)
	for _, p := range parts[:min(len(parts), MaxParts)] {
		a.Parts = append(a.Parts, Explain(p))
	}
	if rest := len(parts) - MaxParts; rest > 0 {
		a.add(fmt.Sprintf("of %d more objects that it depends on, %d wait", rest, waiting(parts[MaxParts:])))
	}
	return a
}

// waits reports whether the object, without its parts, is not yet in its desired state.
func (s *Subject) waits() bool { return Explain(Subject{Kind: s.Kind, Object: s.Object}).Waits }

func waiting(all []Subject) (n int) {
	for _, s := range all {
		if s.waits() {
			n++
		}
	}
	return n
}

func (a *Explanation) add(reason string) {
	if reason != "" && !slices.Contains(a.Reasons, reason) {
		a.Reasons = append(a.Reasons, reason)
	}
}

// missing explains an object that does not exist.
func (a *Explanation) missing(s *Subject) {
	a.State = "does not exist"
	if n := len(s.Lives); n > 0 && s.Lives[n-1].Type == "DELETED" {
		lf := s.Lives[n-1]
		a.State = "was deleted"
		user := "the server itself"
		if lf.User != "" {
			user = lf.User
		}
		a.add(fmt.Sprintf("%s deleted it at revision %d (fairlead trace --rv=%d)", user, lf.Revision, lf.Revision))
	}
}

// finalizerOwners names the component that removes each of Kubernetes' own finalizers.
var finalizerOwners = map[string]string{
	"kubernetes":                                  "the namespace controller, when the namespace is empty",
	"kubernetes.io/pvc-protection":                "the pvc-protection controller, when no pod uses the claim",
	"kubernetes.io/pv-protection":                 "the pv-protection controller, when no claim is bound to the volume",
	"kubernetes.io/vac-protection":                "the vac-protection controller, when no claim or volume uses the class",
	"foregroundDeletion":                          "the garbage collector, when the object's dependents are deleted",
	"orphan":                                      "the garbage collector, when the dependents' ownerReferences are removed",
	"batch.kubernetes.io/job-tracking":            "the job controller, when it has counted the pod",
	"service.kubernetes.io/load-balancer-cleanup": "the provider of load balancers",
}

// terminating lists the finalizers of an object that is being deleted.
func (a *Explanation) terminating(s *Subject) {
	a.State, a.Waits = "is terminating since "+s.text("metadata", "deletionTimestamp"), true
	finalizers := s.texts("metadata", "finalizers")
	if s.Kind == "Namespace" {
		finalizers = append(finalizers, s.texts("spec", "finalizers")...)
	}
	for _, f := range finalizers {
		owner, ok := finalizerOwners[f]
		if !ok {
			owner = "the program that added it; without that program the object stays forever"
		}
		a.add(fmt.Sprintf("finalizer %s blocks the deletion; it is removed by %s", f, owner))
	}
	for _, c := range s.list("status", "conditions") {
		kind := str(c["type"])
		if s.Kind == "Namespace" && strings.HasPrefix(kind, "Namespace") && str(c["status"]) == "True" {
			a.add(because(str(c["reason"]), str(c["message"])))
		}
	}
	if len(finalizers) == 0 && s.Kind == "Pod" {
		a.add(fmt.Sprintf("node %q has not stopped it yet: grace period %d s", s.text("spec", "nodeName"), s.number("metadata", "deletionGracePeriodSeconds")))
	}
}

// progress explains the progress of an object.
func (a *Explanation) progress(s *Subject) {
	seen, now := s.number("status", "observedGeneration"), s.number("metadata", "generation")
	if _, ok := s.at("status", "observedGeneration").(float64); ok && seen < now {
		a.Waits = true
		a.add(fmt.Sprintf("its controller has acted on generation %d of %d", seen, now))
	}
	switch s.Kind {
	case "Pod":
		a.pod(s)
	case "PersistentVolumeClaim":
		a.claim(s)
	case "Deployment", "ReplicaSet", "StatefulSet", "ReplicationController", "DaemonSet":
		a.workload(s)
	case "Job":
		a.job(s)
	case "CronJob":
		a.cron(s)
	case "Node":
		a.node(s)
	case "Lease":
		a.lease(s)
	case "Service":
		a.service(s)
	case "EndpointSlice":
		ready, all := endpoints(s)
		a.State = fmt.Sprintf("has %d of %d endpoints ready", ready, all)
	}
	for _, c := range s.list("status", "conditions") {
		if s.Kind == "Pod" && str(c["type"]) == "Ready" && len(a.Reasons) > 0 {
			continue // a consequence of the containers' states, which are listed already
		}
		if isProblem(str(c["type"]), str(c["status"])) && str(c["reason"]) != "PodCompleted" {
			a.Waits = true
			a.add(fmt.Sprintf("%s is %s: %s", c["type"], c["status"], because(str(c["reason"]), str(c["message"]))))
		}
	}
	if a.State == "" {
		a.State = "exists"
		if phase := s.text("status", "phase"); phase != "" {
			a.State = "is " + phase
		}
	}
	if a.Waits && len(a.Reasons) == 0 || s.Kind == "PersistentVolumeClaim" {
		for i := len(s.Events) - 1; i >= 0; i-- {
			if e := s.Events[i]; e.Type == "Warning" || s.Kind == "PersistentVolumeClaim" && a.Waits {
				a.add(because(e.Reason, e.Message))
				break
			}
		}
	}
}

// isProblem reports whether a condition signals a problem. By convention, the type of a
// condition that is True in case of a problem has one of these words.
func isProblem(kind, status string) bool {
	negative := false
	for _, word := range []string{"Failure", "Failed", "Pressure", "Unavailable", "Deadlock", "Degraded", "Stalled", "Disruption", "Dangling", "Violat", "NonStructural", "Terminating", "Limited", "Denied"} {
		negative = negative || strings.Contains(kind, word)
	}
	switch kind {
	case "Complete", "SuccessCriteriaMet", "Suspended", "DisruptionTarget", "PodReadyToStartContainers", "ContainersReady", "Initialized", "PodScheduled":
		return false // explained by the kind's own rule, or relevant only when True
	}
	return negative == (status == "True") // Unknown signals a problem too
}
