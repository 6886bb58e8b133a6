package history

import (
	"slices"
	"time"

	"fairlead.dev/internal/history"
	"fairlead.dev/watchcache"
)

// maxFields bounds the paths of changed fields in a state.
const maxFields = 12

// state describes a version.
func (p *pager) state(v *watchcache.Version) (history.State, error) {
	s := history.State{Revision: int64(v.Revision), Type: typeOf(v)}
	to, text, err := p.fields(v.Object)
	if err != nil {
		return s, err
	}
	from, _, err := p.fields(v.Previous)
	if err != nil {
		return s, err
	}
	p.decoded.of, p.decoded.fields = v.Previous, from
	if v.Err != nil {
		s.Error = v.Err.Error()
	}
	s.UID = uid(to, from)
	if p.query.objects {
		s.Object = text
	}
	applied := false
	if to != nil && (from != nil || s.Type == history.Added) {
		changes := history.Changes(from, to)
		s.Managers, applied = history.Managers(changes, from, to)
		if s.Type == history.Modified {
			s.Fields, s.MoreFields = paths(changes)
		}
	}
	p.describe(&s)
	if s.Verb == "patch" && applied {
		s.Verb = "apply"
	}
	if s.Time.IsZero() {
		s.After, s.Time = estimate(v, from, to)
	}
	return s, nil
}

// typeOf returns the type of the write. The first kept version, which compaction may have left, is
// a creation if the store counts it as the first of its key.
func typeOf(v *watchcache.Version) string {
	switch {
	case v.Object == nil && v.Err == nil:
		return history.Deleted
	case v.Previous == nil && (v.Object == nil || v.Object.CreateRevision() == v.Revision):
		return history.Added
	}
	return history.Modified
}

// fields returns an object as JSON of the version that was asked for, and decoded.
func (p *pager) fields(o *watchcache.Object) (map[string]any, []byte, error) {
	if o == nil {
		return nil, nil, nil
	}
	text := p.form.Preconverted[o]
	if text == nil {
		var err error
		if text, err = p.form.AppendElement(nil, o); err != nil {
			return nil, nil, err
		}
	}
	if o == p.decoded.of {
		return p.decoded.fields, text, nil
	}
	fields, err := history.Decode(text)
	return fields, text, err
}

// uid returns the UID of the first object that has one.
func uid(of ...map[string]any) string {
	for _, fields := range of {
		meta, _ := fields["metadata"].(map[string]any)
		if text, ok := meta["uid"].(string); ok {
			return text
		}
	}
	return ""
}

// paths returns the paths of changes, those that a user sets before those of the server.
func paths(changes []history.Change) (all []string, more int) {
	changes = slices.Clone(changes)
	slices.SortStableFunc(changes, func(a, b history.Change) int {
		switch x, y := a.Path.ServerSet(), b.Path.ServerSet(); {
		case x == y:
			return 0
		case x:
			return 1
		}
		return -1
	})
	for _, c := range changes[:min(len(changes), maxFields)] {
		all = append(all, c.Path.String())
	}
	return all, len(changes) - len(all)
}

// describe adds what the trace knows of the write.
func (p *pager) describe(s *history.State) {
	life, ok := p.Trace.Lookup(s.Revision)
	if !ok {
		return
	}
	s.Recorded, s.Time = true, life.Began
	s.Verb, s.Subresource, s.User, s.Agent, s.Causes = life.Verb, life.Subresource, life.User, life.Agent, life.Causes
}

// estimate returns the bounds of a write's time. A managed field that it set is right to the second
// if its time lies between them; after is zero then.
func estimate(v *watchcache.Version, from, to map[string]any) (after, by time.Time) {
	managed := history.LastManaged(from, to)
	within := !managed.IsZero() && managed.Add(time.Second).After(v.After) && (v.By.IsZero() || !managed.After(v.By))
	switch {
	case within:
		return time.Time{}, managed
	case v.By.IsZero():
		return time.Time{}, time.Time{}
	case v.After.IsZero():
		return created(to), v.By
	}
	return v.After, v.By
}

// created returns the creation time of an object.
func created(fields map[string]any) (at time.Time) {
	meta, _ := fields["metadata"].(map[string]any)
	text, _ := meta["creationTimestamp"].(string)
	at, _ = time.Parse(time.RFC3339, text)
	return at
}

// order narrows the bounds of the times by those of the states beside them.
func order(states []history.State) {
	for i := 1; i < len(states); i++ {
		s, newer := &states[i], &states[i-1]
		if !s.After.IsZero() && !newer.Time.IsZero() && newer.Time.Before(s.Time) {
			s.Time = newer.Time
		}
	}
	for i := len(states) - 2; i >= 0; i-- {
		s, older := &states[i], &states[i+1]
		if !s.After.IsZero() && older.After.IsZero() && older.Time.After(s.After) && older.Time.Before(s.Time) {
			s.After = older.Time
		}
	}
	for i := range states {
		if s := &states[i]; !s.After.Before(s.Time) {
			s.After = time.Time{}
		}
	}
}
