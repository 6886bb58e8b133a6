package why

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	// MaxParts is the maximum number of parts that are explained in full; those with the same explanation are one. Of further
	// parts the explanation has only their number, and the number of those that wait.
	MaxParts = 5
	maxNotes = 5
)

// Explain explains a subject's state.
func Explain(s Subject) Explanation {
	a := Explanation{Kind: s.Kind, Resource: s.Resource, Namespace: s.Namespace, Name: s.Name, Alike: s.Alike}
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
	a.Causes = a.causes(a.parts(&s))
	return a
}

// parts explains the parts, and returns the causes of those that wait.
func (a *Explanation) parts(s *Subject) (causes []Cause) {
	rest, waiting := 0, 0
	for _, p := range s.Parts {
		var part Explanation
		if len(a.Parts) < MaxParts {
			part = Explain(p)
			a.Parts = append(a.Parts, part)
		} else {
			part = p.brief()
			rest += 1 + len(p.Alike)
			if part.Waits {
				waiting += 1 + len(p.Alike)
			}
		}
		if s.dependsOn(&p) {
			causes = merge(causes, part.Causes...)
		}
	}
	if rest > 0 {
		a.Reasons = append(a.Reasons, fmt.Sprintf("of %d more objects that it depends on, %d wait", rest, waiting))
	}
	return causes
}

// dependsOn reports whether a part that waits keeps the object waiting. The Lease of a node is evidence, a CronJob does
// not wait for its Jobs, and an autoscaler waits for the metrics of pods, not for their readiness.
func (s *Subject) dependsOn(part *Subject) bool {
	return part.Kind != "Lease" && s.Kind != "CronJob" && s.Kind != "HorizontalPodAutoscaler"
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
		a.Reasons = append(a.Reasons, fmt.Sprintf("%s deleted it at revision %d (fairlead trace --rv=%d)", user, lf.Revision, lf.Revision))
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
		if owner, ok := finalizerOwners[f]; ok {
			a.pending(s, fmt.Sprintf("finalizer %s blocks the deletion; it is removed by %s", f, owner))
			continue
		}
		a.problem(s, fmt.Sprintf("finalizer %s blocks the deletion; it is removed by the program that added it; without that program the object stays forever", f),
			"start that program; if it is gone for good: "+s.kubectl("patch", s.named(), `--type=merge -p '{"metadata":{"finalizers":null}}'`))
	}
	for _, c := range s.list("status", "conditions") {
		if s.Kind == "Namespace" && str(c["status"]) == "True" {
			switch text := because(str(c["reason"]), str(c["message"])); str(c["type"]) {
			case "NamespaceFinalizersRemaining":
				a.problem(s, text, "find the objects with these finalizers: fairlead why")
			case "NamespaceContentRemaining":
				a.pending(s, text)
			default:
				if strings.HasPrefix(str(c["type"]), "Namespace") {
					a.problem(s, text, "")
				}
			}
		}
	}
	if len(finalizers) > 0 || s.Kind != "Pod" {
		return
	}
	grace := s.number("metadata", "deletionGracePeriodSeconds")
	text := fmt.Sprintf("node %q has not stopped it yet: grace period %d s", s.text("spec", "nodeName"), grace)
	if ends, err := time.Parse(time.RFC3339, s.text("metadata", "deletionTimestamp")); err == nil && time.Since(ends) > patience {
		a.problem(s, text, "look at its node: fairlead why node/"+s.text("spec", "nodeName"))
		return
	}
	a.pending(s, text)
}

// patience is how long a state that usually passes is no problem.
const patience = 30 * time.Second

// young reports whether a time of the object is less than patience ago.
func (s *Subject) young(path ...string) bool {
	at, err := time.Parse(time.RFC3339, s.text(path...))
	return err == nil && time.Since(at) < patience
}

// progress explains the progress of an object.
func (a *Explanation) progress(s *Subject) {
	seen, now := s.number("status", "observedGeneration"), s.number("metadata", "generation")
	if _, ok := s.at("status", "observedGeneration").(float64); ok && seen < now {
		a.Waits = true
		a.pending(s, fmt.Sprintf("its controller has acted on generation %d of %d", seen, now))
	}
	for _, p := range absent(s.Parts) {
		if p.Kind != "Lease" {
			a.Waits = true
			a.root(s, fmt.Sprintf("its %s %s does not exist", p.Kind, p.Name), "create it, or correct its name in the "+s.Kind)
		}
	}
	a.kind(s)
	a.conditions(s)
	if a.State == "" {
		a.State = "exists"
		if phase := s.text("status", "phase"); phase != "" {
			a.State = "is " + phase
		}
	}
	if a.Waits && len(a.own) == 0 || s.Kind == "PersistentVolumeClaim" {
		for i := len(s.Events) - 1; i >= 0; i-- {
			if e := s.Events[i]; e.Type == "Warning" || s.Kind == "PersistentVolumeClaim" && a.Waits {
				a.problem(s, because(e.Reason, e.Message), "")
				break
			}
		}
	}
	if a.Waits && len(a.own) == 0 {
		a.own = []Cause{{Kind: s.Kind, Resource: s.Resource, Objects: []string{s.path(s.Name)}, Text: a.State, Progress: true}}
	}
}

// kind explains the kinds whose status needs more than its conditions.
func (a *Explanation) kind(s *Subject) {
	switch s.Kind {
	case "Pod":
		a.pod(s)
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
	case "PersistentVolumeClaim":
		a.claim(s)
	case "PersistentVolume":
		a.volume(s)
	case "Service":
		a.service(s)
	case "EndpointSlice":
		a.slice(s)
	case "Ingress":
		a.ingress(s)
	case "HorizontalPodAutoscaler":
		a.autoscaler(s)
	case "PodDisruptionBudget":
		a.budget(s)
	case "ResourceQuota":
		a.quota(s)
	case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
		a.webhooks(s)
	case "CustomResourceDefinition":
		a.definition(s)
	}
}

// conditions adds the conditions that signal a problem.
func (a *Explanation) conditions(s *Subject) {
	for _, c := range s.list("status", "conditions") {
		kind, reason := str(c["type"]), str(c["reason"])
		if s.Kind == "Pod" && kind == "Ready" && len(a.own) > 0 {
			continue // a consequence of the containers' states, which are listed already
		}
		if !isProblem(kind, str(c["status"])) || reason == "PodCompleted" || s.Kind == "PodDisruptionBudget" {
			continue
		}
		a.Waits = true
		text := fmt.Sprintf("%s is %s: %s", kind, c["status"], because(reason, str(c["message"])))
		if consequences[s.Kind+" "+kind] {
			a.pending(s, text)
		} else {
			a.problem(s, text, suggest(s, reason, str(c["message"])))
		}
	}
}

// consequences are conditions whose cause is another object, or that pass when a rollout ends.
var consequences = map[string]bool{"Deployment Available": true, "Pod Ready": true}

// isProblem reports whether a condition signals a problem. By convention, the type of a
// condition that is True in case of a problem has one of these words.
func isProblem(kind, status string) bool {
	negative := false
	for _, word := range []string{"Failure", "Failed", "Pressure", "Unavailable", "Deadlock", "Degraded", "Stalled", "Disruption", "Dangling", "Violat", "NonStructural", "Terminating", "Denied"} {
		negative = negative || strings.Contains(kind, word)
	}
	switch kind {
	case "Complete", "SuccessCriteriaMet", "Suspended", "DisruptionTarget", "PodReadyToStartContainers", "ContainersReady", "Initialized", "PodScheduled", "ScalingLimited", "FailureTarget", "Unused":
		return false // explained by the kind's own rule, or relevant only when True
	}
	return negative == (status == "True") // Unknown signals a problem too
}
