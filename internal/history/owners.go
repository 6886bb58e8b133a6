package history

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// An Owner is a field manager of a field, and when it last changed what it manages.
type Owner struct {
	Manager string
	Time    time.Time
}

// Owners returns the managers of a field of an object: those that own it, or a field around it
// as a whole.
func Owners(object map[string]any, p FieldPath) (found []Owner) {
	for _, m := range managedFields(object) {
		if set, _ := m["fieldsV1"].(map[string]any); owns(set, p) {
			found = append(found, ownerOf(m))
		}
	}
	return found
}

func managedFields(object map[string]any) (entries []map[string]any) {
	meta, _ := object["metadata"].(map[string]any)
	list, _ := meta["managedFields"].([]any)
	for _, e := range list {
		if m, ok := e.(map[string]any); ok {
			entries = append(entries, m)
		}
	}
	return entries
}

func ownerOf(entry map[string]any) Owner {
	name, _ := entry["manager"].(string)
	text, _ := entry["time"].(string)
	at, _ := time.Parse(time.RFC3339, text)
	return Owner{name, at}
}

// owns reports whether a set of fields has the path, or ends above it.
func owns(set map[string]any, p FieldPath) bool {
	for depth, s := range p {
		below := descend(set, s)
		if below == nil {
			return depth > 0 && len(set) == 0
		}
		set = below
	}
	return true
}

// descend returns the part of a set below a step, nil if it has none.
func descend(set map[string]any, s Step) map[string]any {
	if s.Key == "" {
		below, _ := set["f:"+s.Field].(map[string]any)
		return below
	}
	for name, v := range set {
		text, ok := strings.CutPrefix(name, "k:")
		var key map[string]any
		if !ok || json.Unmarshal([]byte(text), &key) != nil {
			continue
		}
		if have, ok := key[s.Key]; ok && fmt.Sprint(have) == s.Value {
			below, _ := v.(map[string]any)
			return below
		}
	}
	return nil
}

// Managers returns the managers of the changed fields in the new state, or, of fields that are
// gone, in the old one.
func Managers(changes []Change, from, to map[string]any) (names []string) {
	for _, c := range changes {
		in := to
		if c.To == nil {
			in = from
		}
		for _, o := range Owners(in, c.Path) {
			if !slices.Contains(names, o.Manager) {
				names = append(names, o.Manager)
			}
		}
	}
	return names
}

// LastManaged returns the time of the newest entry of the managed fields that the state before does
// not have; zero without one.
func LastManaged(before, object map[string]any) (last time.Time) {
	old := map[Owner]bool{}
	for _, m := range managedFields(before) {
		old[ownerOf(m)] = true
	}
	for _, m := range managedFields(object) {
		if o := ownerOf(m); !old[o] && o.Time.After(last) {
			last = o.Time
		}
	}
	return last
}
