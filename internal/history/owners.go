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
	// Applied reports that it owns the field by server-side apply.
	Applied bool
	Time    time.Time
}

// Owners returns the managers of a field of an object: those that own it or else those
// of a field around it as a whole.
func Owners(object map[string]any, p FieldPath) (found []Owner) {
	exact := 0
	for _, m := range managedFields(object) {
		set, _ := m["fieldsV1"].(map[string]any)
		switch depth := owned(set, p); {
		case depth == 0 || depth < exact:
		case depth > exact:
			exact, found = depth, []Owner{ownerOf(m)}
		default:
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
	operation, _ := entry["operation"].(string)
	text, _ := entry["time"].(string)
	at, _ := time.Parse(time.RFC3339, text)
	return Owner{name, operation == "Apply", at}
}

// owned returns how many steps of the path a set of fields has, 0 if it only has fields beside it.
func owned(set map[string]any, p FieldPath) int {
	for depth, s := range p {
		below := descend(set, s)
		if below == nil && len(set) > 0 {
			return 0
		}
		if below == nil {
			return depth
		}
		set = below
	}
	return len(p)
}

// descend returns the part of a set below a step, nil without one.
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

// Managers returns the names of the managers of the changed fields in the new state; or else those of the removed fields in the old one. applied reports whether one of the new state
// applied its fields: then the write was an apply, since any other takes the field from the manager that
// applied it.
func Managers(changes []Change, from, to map[string]any) (names []string, applied bool) {
	var last []string
	add := func(to []string, o Owner) []string {
		if slices.Contains(to, o.Manager) {
			return to
		}
		return append(to, o.Manager)
	}
	for _, c := range changes {
		if c.To == nil {
			for _, o := range Owners(from, c.Path) {
				last = add(last, o)
			}
			continue
		}
		for _, o := range Owners(to, c.Path) {
			names, applied = add(names, o), applied || o.Applied
		}
	}
	if names == nil {
		return last, false
	}
	return names, applied
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
