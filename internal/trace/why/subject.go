package why

import (
	"strings"
	"time"

	"fairlead.dev/internal/trace/show"
)

// Subject is an object with the input of its explanation.
type Subject struct {
	// Kind and Resource are its kind and resource: "Pod", "pods", "deployments.apps".
	Kind, Resource string
	Namespace      string
	Name           string
	// Object is its JSON form; nil if it does not exist.
	Object map[string]any
	// Events are the Events about it, oldest first.
	Events []Note
	// Lives are the lives of its last changes, oldest first, as far as the trace has them.
	Lives []show.Event
	// Parts are the objects that it owns or uses, and so waits for.
	Parts []Subject
	// Alike are the names of further objects with the same explanation.
	Alike []string
	// Forbidden are resources that the caller may not list, so that Parts lack them.
	Forbidden []string
}

// Path is the path at which a Fairlead server serves an Explanation, in JSON, to users with
// the right to get the path and the object. Its parameters are resource ("pods",
// "deployments.apps"), namespace and name. Without parameters it serves a Survey.
const Path = "/debug/why"

// Unknown reports whether there is neither an object nor a life of one.
func (s *Subject) Unknown() bool { return s.Object == nil && len(s.Lives) == 0 }

// Note is an Event about an object.
type Note struct {
	Time    time.Time `json:"time"`
	Type    string    `json:"type"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
	Source  string    `json:"source,omitempty"`
	Count   int64     `json:"count,omitempty"`
}

// Explanation explains the state of a Subject.
type Explanation struct {
	Kind      string `json:"kind"`
	Resource  string `json:"resource,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// State is the present state in a few words; Waits reports whether another state is
	// expected.
	State string `json:"state"`
	Waits bool   `json:"waits"`
	// Alike are the names of further objects of the kind with the same explanation.
	Alike []string `json:"alike,omitempty"`
	// Done and Want count the replicas, or the pods of a Job, that are ready or have succeeded, and those that are to be.
	Done int64 `json:"done,omitempty"`
	Want int64 `json:"want,omitempty"`
	// Causes are the root causes, the most important first, if the object waits.
	Causes []Cause `json:"causes,omitempty"`
	// Reasons are the object's own reasons, the most important first.
	Reasons []string `json:"reasons,omitempty"`
	// Observations are the controllers and watchers that received the last changes, with
	// their results.
	Observations []Observation `json:"saw,omitempty"`
	// Notes are the last events about it.
	Notes []Note `json:"events,omitempty"`
	// Parts explain the objects that it waits for, waiting ones first.
	Parts []Explanation `json:"parts,omitempty"`

	own []Cause // of its own reasons
}

// Observation is the result of one change at one controller or watcher.
type Observation struct {
	Revision int64     `json:"revision"`
	Who      string    `json:"who"` // the controller's name, or the watcher's user
	Time     time.Time `json:"time,omitzero"`
	// Key is the key that a controller reconciled, "" for a watcher.
	Key      string `json:"key,omitempty"`
	Decision string `json:"decision"`
}

// fields of JSON objects

func (s *Subject) at(path ...string) any {
	var v any = s.Object
	for _, p := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[p]
	}
	return v
}

func (s *Subject) text(path ...string) string { return str(s.at(path...)) }

func (s *Subject) number(path ...string) int64 { return num(s.at(path...)) }

func (s *Subject) list(path ...string) []map[string]any {
	all, _ := s.at(path...).([]any)
	var out []map[string]any
	for _, v := range all {
		if m, ok := v.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func (s *Subject) texts(path ...string) []string {
	all, _ := s.at(path...).([]any)
	var out []string
	for _, v := range all {
		out = append(out, str(v))
	}
	return out
}

// condition is the status condition of a type, or nil.
func (s *Subject) condition(kind string) map[string]any {
	for _, c := range s.list("status", "conditions") {
		if str(c["type"]) == kind {
			return c
		}
	}
	return nil
}

func str(v any) string {
	s, _ := v.(string)
	return s
}

func num(v any) int64 {
	switch n := v.(type) {
	case float64:
		return int64(n)
	case int64:
		return n
	}
	return 0
}

// because joins the reason and the message of a condition.
func because(reason, message string) string {
	switch {
	case message == "":
		return reason
	case reason == "":
		return message
	}
	return reason + ": " + strings.TrimSpace(message)
}
