package managed

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/server/openapi"
)

// Apply is a configuration that is merged into an object.
type Apply struct {
	// Manager applies, through Subresource if it is not empty; APIVersion is
	// the version of Live and Config, which Shape describes.
	Manager, Subresource, APIVersion string
	Shape                            *openapi.Shape
	Filter                           Filter
	// Live is the object without its record, Config the configuration. Both are
	// valid JSON.
	Live, Config []byte
	// Time is when.
	Time time.Time
}

// Plain does what most applied configurations ask for: the manager gives all that
// it gave before, and nobody else's field changes. It returns the merged object,
// which is Live itself if nothing changes, and the entries after it.
//
// Of all others, and of whatever is not entirely regular, ok is false: fields are
// to be taken away, or there is a conflict, or an error to be worded. They are
// apimachinery's.
func (a *Apply) Plain(entries []metav1.ManagedFieldsEntry) (merged []byte, after []metav1.ManagedFieldsEntry, ok bool) {
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
	} else if a.conflicts(entries, own, merged) {
		return nil, nil, false
	}
	return merged, a.record(entries, own, set, m.changed), true
}

// ownEntry is the index of the manager's entry, -1 if it has none yet. ok is false
// if the entries are odd, or the configuration misses some of the manager's fields.
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
			if !covers(a.Config, e.FieldsV1.GetRawBytes(), a.Shape) {
				return own, false
			}
			own = i
		}
	}
	return own, true
}

// conflicts says that a field changes that another manager has.
func (a *Apply) conflicts(entries []metav1.ManagedFieldsEntry, own int, merged []byte) bool {
	tree := changes(a.Live, merged, a.Shape, a.Filter)
	for i := range entries {
		if i == own {
			continue
		}
		if any, _ := tree.hits(entries[i].FieldsV1.GetRawBytes(), added|modified|removed); any {
			return true
		}
	}
	return false
}

// record are the entries after the merge.
func (a *Apply) record(entries []metav1.ManagedFieldsEntry, own int, set []byte, changed bool) []metav1.ManagedFieldsEntry {
	list := make([]metav1.ManagedFieldsEntry, len(entries), len(entries)+1)
	copy(list, entries)
	if own < 0 {
		own = len(list)
		list = append(list, metav1.ManagedFieldsEntry{
			Manager: a.Manager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: a.APIVersion,
			FieldsType: "FieldsV1", Subresource: a.Subresource,
		})
	}
	list[own].FieldsV1 = &metav1.FieldsV1{}
	list[own].FieldsV1.SetRawBytes(set)
	if changed {
		list[own].Time = &metav1.Time{Time: a.Time.Truncate(time.Second)}
	}
	inOrder(list)
	return list
}

// inOrder sorts entries as they stand in objects.
func inOrder(list []metav1.ManagedFieldsEntry) {
	slices.SortStableFunc(list, func(a, b metav1.ManagedFieldsEntry) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(seconds(a.Time), seconds(b.Time)),
			cmp.Compare(a.Manager, b.Manager), cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Subresource, b.Subresource))
	})
}
