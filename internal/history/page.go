package history

import (
	"encoding/json"
	"time"
)

// Path answers a GET with a Page. Parameters: resource ("deployments.apps"), namespace and name;
// version, that of the states (the storage version without it); before, a revision: only states
// below it; limit, the number of states; objects=false leaves the objects out.
const Path = "/debug/history"

const (
	// DefaultLimit and MaxLimit bound the states of a page.
	DefaultLimit, MaxLimit = 100, 1000
	// MaxBytes is the size of a page's objects at which it ends.
	MaxBytes = 8 << 20
)

// Page is a part of the history of an object, the newest states first.
type Page struct {
	Resource   string `json:"resource"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	// Revision is the store's: later writes are not in the page.
	Revision int64 `json:"revision"`
	// Now is the server's time, from which the ages of States count: its clock may be virtual.
	Now time.Time `json:"now"`
	// States is empty if no state is kept.
	States []State `json:"states"`
	// Before is the parameter for the next page, 0 on the last one.
	Before int64 `json:"before,omitempty"`
	// Compacted, on the last page, is the revision of the last compaction: states that ended before
	// it are gone. It is 0 without one.
	Compacted int64 `json:"compacted,omitempty"`
	// Withheld, on the last page, is the reason that earlier states are kept and not shown.
	Withheld string `json:"withheld,omitempty"`
}

// The types of states, which are those of watch events.
const (
	Added    = "ADDED"
	Modified = "MODIFIED"
	Deleted  = "DELETED"
)

// State is an object from one write to the next.
type State struct {
	Revision int64 `json:"revision"`
	// Type is Added, Modified or Deleted.
	Type string `json:"type"`
	UID  string `json:"uid,omitempty"`
	// Time is when it was written, zero if unknown. After is set if that is not exact: it was
	// written after After and by Time.
	Time  time.Time `json:"time,omitzero"`
	After time.Time `json:"after,omitzero"`
	// Recorded reports whether the trace has the write. If so, Verb, Subresource, User, Agent and
	// Causes describe the request; they are empty for a write of the server itself. The Verb of a
	// server-side apply is apply.
	Recorded    bool    `json:"recorded,omitempty"`
	Verb        string  `json:"verb,omitempty"`
	Subresource string  `json:"subresource,omitempty"`
	User        string  `json:"user,omitempty"`
	Agent       string  `json:"agent,omitempty"`
	Causes      []int64 `json:"causes,omitempty"`
	// Managers are the field managers of the changed fields.
	Managers []string `json:"managers,omitempty"`
	// Fields are the paths of changed fields, of the spec first; MoreFields counts those left out.
	Fields     []string `json:"fields,omitempty"`
	MoreFields int      `json:"moreFields,omitempty"`
	// Object is nil if it was deleted, cannot be read, or was not asked for.
	Object json.RawMessage `json:"object,omitempty"`
	// Error is the reason that the state cannot be read.
	Error string `json:"error,omitempty"`
}

// Decode returns the object's fields, nil without an object.
func (s *State) Decode() (map[string]any, error) {
	if len(s.Object) == 0 {
		return nil, nil
	}
	return Decode(s.Object)
}
