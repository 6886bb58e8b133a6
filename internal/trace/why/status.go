package why

import (
	"cmp"
	"fmt"
	"slices"
)

// Status is the state of an object for a place without room for an explanation.
type Status struct {
	// Word is the state in a word or two: "Running", "3 of 4 ready"; "" for an object that only exists.
	Word string `json:"word,omitempty"`
	// Tone is the meaning of the state; "" if it has none.
	Tone Tone `json:"tone,omitempty"`
	// Text is the state with its most important reason.
	Text string `json:"text,omitempty"`
}

// Tone is the meaning of a state.
type Tone string

// The tones.
const (
	Well    Tone = "well"
	Busy    Tone = "busy"    // expected to pass
	Ill     Tone = "ill"     // does not pass without help
	Missing Tone = "missing" // the object does not exist
)

// Status returns the state of the object, without its Events, and without its parts, except a Service's.
func (s *Subject) Status() Status {
	if s.Object == nil {
		return Status{Word: "missing", Tone: Missing, Text: "does not exist"}
	}
	a := s.brief()
	st := Status{Word: s.word(&a), Text: a.State}
	switch ill := problems(a.own); {
	case len(ill) > 0:
		st.Tone, st.Text = Ill, a.State+": "+ill[0].Text
	case a.Waits:
		st.Tone = Busy
		if len(a.Reasons) > 0 {
			st.Text += ": " + a.Reasons[0]
		}
	case st.Word != "" && st.Word != unscaled:
		st.Tone = Well
	}
	if st.Word == "" && a.Waits {
		st.Word = "waits"
	}
	return st
}

// unscaled is the word of a workload that is to have no replicas.
const unscaled = "0 replicas"

// word is the state in a word or two.
func (s *Subject) word(a *Explanation) string {
	if s.text("metadata", "deletionTimestamp") != "" {
		return "Terminating"
	}
	switch s.Kind {
	case "Pod":
		return s.podWord()
	case "Deployment", "ReplicaSet", "StatefulSet", "ReplicationController", "DaemonSet":
		want, _, ready := s.replicas()
		if want == 0 && ready == 0 {
			return unscaled
		}
		return fmt.Sprintf("%d of %d ready", ready, want)
	case "Job":
		if a.Want > 0 {
			return fmt.Sprintf("%d of %d complete", a.Done, a.Want)
		}
	case "Node":
		word := "NotReady"
		if !a.Waits {
			word = "Ready"
		}
		if s.at("spec", "unschedulable") == true {
			word += ", cordoned"
		}
		return word
	case "Service":
		return s.endpointsWord()
	case "HorizontalPodAutoscaler":
		return fmt.Sprintf("%d replicas", s.number("status", "currentReplicas"))
	case "PodDisruptionBudget":
		return fmt.Sprintf("%d may go", s.number("status", "disruptionsAllowed"))
	}
	if phase := s.text("status", "phase"); phase != "" {
		return phase
	}
	for _, kind := range []string{"Ready", "Available", "Programmed", "Accepted", "Established"} {
		switch c := s.condition(kind); str(c["status"]) {
		case "True":
			return kind
		case "False", "Unknown":
			return "not " + kind
		}
	}
	return ""
}

// podWord is kubectl's status of a pod, in short: the reason of a container that waits or has failed, or the phase.
func (s *Subject) podWord() string {
	phase := cmp.Or(s.text("status", "reason"), s.text("status", "phase"))
	ready := true
	for _, list := range []string{"initContainerStatuses", "containerStatuses"} {
		for _, container := range s.list("status", list) {
			c := Subject{Object: container}
			if reason := c.text("state", "waiting", "reason"); reason != "" {
				return reason
			}
			if c.number("state", "terminated", "exitCode") != 0 {
				return cmp.Or(c.text("state", "terminated", "reason"), "Error")
			}
			ready = ready && (list == "initContainerStatuses" || container["ready"] == true)
		}
	}
	if phase == "Running" && !ready {
		return "not ready"
	}
	return phase
}

// endpointsWord counts the endpoints of a Service.
func (s *Subject) endpointsWord() string {
	if s.text("spec", "type") == "ExternalName" {
		return "alias"
	}
	if slices.Contains(s.Forbidden, "endpointslices.discovery.k8s.io") {
		return ""
	}
	ready, all := 0, 0
	for _, p := range s.Parts {
		if p.Kind == "EndpointSlice" {
			r, n := endpoints(&p)
			ready, all = ready+r, all+n
		}
	}
	return fmt.Sprintf("%d of %d ready", ready, all)
}
