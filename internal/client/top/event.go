package top

import (
	"strings"
	"time"

	"fairlead.dev/internal/trace/show"
)

// event is the part of a life that the list of events shows.
type event struct {
	revision        int64
	kind            string // ADDED, MODIFIED or DELETED
	resource        string
	namespace, name string
	verb, user      string
	began           time.Time
	took            time.Duration
	waiting         int
	failed          bool // a reconcile of it failed
}

func summary(e show.Event) event {
	s := event{
		revision: e.Revision, kind: e.Type, resource: e.Resource, namespace: e.Namespace, name: e.Name,
		verb: strings.TrimSpace(e.Verb + " " + e.Subresource), user: e.User[strings.LastIndexByte(e.User, ':')+1:],
		began: e.Began, took: e.Duration(), waiting: len(e.Waiting),
	}
	for _, w := range e.Reconciles {
		s.failed = s.failed || w.Err != "" && !w.Conflict
	}
	return s
}

// heartbeat reports whether the event is the renewal of a lease, or a report of a node about itself.
func (e *event) heartbeat() bool {
	return e.resource == "leases.coordination.k8s.io" || e.resource == "nodes" && e.kind == "MODIFIED" && strings.HasSuffix(e.verb, " status")
}

// object is the name with its namespace.
func (e *event) object() string { return path(e.namespace, e.name) }

func path(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}
