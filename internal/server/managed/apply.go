package managed

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/codec/jsonscan"
	"fairlead.dev/internal/server/openapi"
)

// Apply merges an applied configuration into an object (server-side apply).
type Apply struct {
	// Manager is the applying field manager, and Subresource the subresource it applies through, if any. APIVersion
	// is the version of Live and Config, and Shape describes that version.
	Manager, Subresource, APIVersion string
	Shape                            *openapi.Shape
	Filter                           Filter
	// Live is the object without its managed fields, Config the configuration. Both are valid JSON.
	Live, Config []byte
	// Force takes fields from other managers, which then no longer own them.
	Force bool
	// Time is the time of the write.
	Time time.Time
}

// TryMerge handles regular configurations. It returns the merged object, which is Live itself if it does not change,
// and the managed fields after the merge.
//
// ok is false for irregular input and for a conflict that is not forced. The caller then uses apimachinery's
// managedfields, which words the error or repairs the input.
func (a *Apply) TryMerge(entries []metav1.ManagedFieldsEntry) (merged []byte, after []metav1.ManagedFieldsEntry, ok bool) {
	own, ok := a.ownEntry(entries)
	if !ok {
		return nil, nil, false
	}
	set, ok := a.set()
	if !ok {
		return nil, nil, false
	}
	m := merger{}
	merged, ok = m.object(make([]byte, 0, len(a.Live)+len(a.Config)), a.Live, a.Config, a.Shape)
	if !ok {
		return nil, nil, false
	}
	if !m.changed {
		merged = a.Live
	}
	if own >= 0 {
		last := parse(entries[own].FieldsV1.GetRawBytes())
		if !last.in(a.Config, a.Shape) {
			p := pruner{}
			merged, ok = p.object(make([]byte, 0, len(merged)), merged, a.Shape, last, a.owners(entries, own, set), false)
			if !ok {
				return nil, nil, false
			}
			if p.removed {
				m.changed = true
			} else if !m.changed {
				merged = a.Live
			}
		}
	}
	list := holdersOf(entries)
	if m.changed && !a.takeFromOthers(list, own, merged) {
		return nil, nil, false
	}
	return merged, a.record(list, own, set, m.changed), true
}

// ownEntry returns the index of the manager's entry, or -1 if it is missing. ok is false if the entries are
// irregular.
func (a *Apply) ownEntry(entries []metav1.ManagedFieldsEntry) (own int, ok bool) {
	own = -1
	for i := range entries {
		e := &entries[i]
		if e.APIVersion != a.APIVersion || e.FieldsType != "FieldsV1" || e.FieldsV1 == nil || len(e.FieldsV1.GetRawBytes()) <= len("{}") {
			return own, false
		}
		for k := range entries[:i] {
			if o := &entries[k]; o.Manager == e.Manager && o.Operation == e.Operation && o.Subresource == e.Subresource {
				return own, false
			}
		}
		if e.Operation == metav1.ManagedFieldsOperationApply && e.Manager == a.Manager && e.Subresource == a.Subresource {
			own = i
		}
	}
	return own, true
}

// owners returns the field sets of all managers, with the new set in place of the applying manager's old one. The
// object's name counts as part of the old set until it is removed here.
func (a *Apply) owners(entries []metav1.ManagedFieldsEntry, own int, set []byte) []*node {
	list := make([]*node, 0, len(entries)+1)
	list = append(list, parse(set))
	if jsonscan.Find(a.Config, "metadata") != nil {
		list = append(list, &node{kids: []node{{element: "f:metadata", mark: member}}})
	}
	for i := range entries {
		if i != own {
			list = append(list, parse(entries[i].FieldsV1.GetRawBytes()))
		}
	}
	return list
}

// takeFromOthers takes the fields that the merge changes or removes from all other managers. It reports whether it
// may: changing another manager's fields needs force. A manager left without any field has an empty set.
func (a *Apply) takeFromOthers(list []*holder, own int, merged []byte) bool {
	tree := changes(a.Live, merged, a.Shape, a.Filter)
	for i, h := range list {
		if i == own {
			continue
		}
		if any, _ := tree.hits(h.text(), added|modified|removed); !any {
			continue
		}
		if any, _ := tree.hits(h.text(), added|modified); any && !a.Force {
			return false
		}
		if !h.fields().subtract(tree, added|modified|removed) {
			h.set = nil // keep the entry's text
		}
	}
	return true
}

// record returns the managed fields after the merge.
func (a *Apply) record(list []*holder, own int, set []byte, changed bool) []metav1.ManagedFieldsEntry {
	var mine *holder
	if own >= 0 {
		mine = list[own]
	} else {
		mine = &holder{ManagedFieldsEntry: metav1.ManagedFieldsEntry{
			Manager: a.Manager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: a.APIVersion,
			FieldsType: "FieldsV1", Subresource: a.Subresource,
		}}
		list = append(list, mine)
	}
	mine.FieldsV1 = &metav1.FieldsV1{}
	mine.FieldsV1.SetRawBytes(set)
	if changed {
		mine.Time = &metav1.Time{Time: a.Time.Truncate(time.Second)}
	}
	return encode(slices.DeleteFunc(list, func(h *holder) bool { return h.set != nil && h.set.empty() }))
}

// inOrder sorts entries in the order in which objects list them.
func inOrder(list []metav1.ManagedFieldsEntry) {
	slices.SortStableFunc(list, func(a, b metav1.ManagedFieldsEntry) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(seconds(a.Time), seconds(b.Time)),
			cmp.Compare(a.Manager, b.Manager), cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Subresource, b.Subresource))
	})
}
