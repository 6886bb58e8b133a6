package managed

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/server/openapi"
)

// Write is a create, an update or a patch other than an apply.
type Write struct {
	// Manager is the writing field manager, and Subresource the subresource it writes through, if any. APIVersion
	// is the version of Old and New, and Shape describes that version.
	Manager, Subresource, APIVersion string
	Shape                            *openapi.Shape
	Filter                           Filter
	// Old and New are the object before and after the write. For a create, Old is an empty object.
	Old, New []byte
	// Create starts managed fields for an object. Without it, an object without managed fields stays so.
	Create bool
	// Other returns both objects in another version, for entries recorded in that version. ok is false if there is
	// no such version.
	Other func(apiVersion string) (old, new []byte, s *openapi.Shape, ok bool)
	// Time is the time of the write. The zero time keeps the time of the writer's entry, if any.
	Time time.Time
}

// maxUpdates is the number of update entries an object may have; beyond it the oldest are merged.
const (
	maxUpdates = 10
	ancient    = "ancient-changes"
)

// holder is an entry being edited. set is nil until the entry's text has been parsed.
type holder struct {
	metav1.ManagedFieldsEntry
	set *node
	// settled marks the writer's entry if it already has every field that the write sets.
	settled bool
}

// holdersOf returns the entries for editing, with room for one more.
func holdersOf(entries []metav1.ManagedFieldsEntry) []*holder {
	list := make([]*holder, len(entries), len(entries)+1)
	for i := range entries {
		list[i] = &holder{ManagedFieldsEntry: entries[i]}
	}
	return list
}

// text returns the holder's set as it was received.
func (h *holder) text() []byte {
	if h.FieldsV1 == nil {
		return []byte("{}")
	}
	return h.FieldsV1.GetRawBytes()
}

// fields returns the holder's set, parsed.
func (h *holder) fields() *node {
	if h.set == nil {
		h.set = &node{}
		if h.FieldsV1 != nil {
			h.set = parse(h.FieldsV1.GetRawBytes())
		}
	}
	return h.set
}

// Update returns the entries after the write. The entries before it must be valid (see Check) and are not modified.
func (w *Write) Update(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	if len(entries) == 0 && !w.Create {
		return nil
	}
	return w.update(changes(w.Old, w.New, w.Shape, w.Filter), entries)
}

// update is Update for changes that have been computed.
func (w *Write) update(own *node, entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	holders := w.takeFromOthers(holdersOf(entries), own)
	if own.has(added | modified) {
		holders = w.giveToOwn(holders, own)
	}
	return encode(capUpdates(holders))
}

// takeFromOthers takes the fields that this write changes or removes from all managers. Entries left without any
// field are dropped, as are entries of an unknown version.
func (w *Write) takeFromOthers(holders []*holder, own *node) []*holder {
	byVersion := map[string]*node{w.APIVersion: own}
	found := false // the writer's own entry; a second one counts as another manager's
	kept := holders[:0]
	for _, h := range holders {
		seen, ok := byVersion[h.APIVersion]
		if !ok {
			old, new, s, known := w.Other(h.APIVersion)
			if !known {
				continue
			}
			seen = changes(old, new, s, w.Filter)
			byVersion[h.APIVersion] = seen
		}
		if any, _ := seen.hits(h.text(), added|modified|removed); any {
			if !found && w.owns(h) && settles(h.text(), own) {
				h.settled = true
			} else if set := h.fields(); !set.subtract(seen, added|modified|removed) {
				h.set = nil // keep the entry's text
			} else if set.empty() {
				continue
			}
		}
		found = found || w.owns(h)
		kept = append(kept, h)
	}
	return kept
}

// owns reports whether the entry is the writer's own.
func (w *Write) owns(h *holder) bool {
	return h.Operation == metav1.ManagedFieldsOperationUpdate && h.Manager == w.manager() && h.APIVersion == w.APIVersion && h.Subresource == w.Subresource
}

func (w *Write) manager() string { return cmp.Or(w.Manager, "unknown") }

// settles reports whether the changes leave the writer's own set as it is.
func settles(set []byte, changes *node) bool {
	if _, all := changes.hits(set, added|modified); !all {
		return false
	}
	gone, _ := changes.hits(set, removed)
	return !gone
}

// giveToOwn adds the fields of the write to the writer's own entry. It consumes own.
func (w *Write) giveToOwn(holders []*holder, own *node) []*holder {
	var now *metav1.Time
	if !w.Time.IsZero() {
		now = &metav1.Time{Time: w.Time.Truncate(time.Second)}
	}
	for _, h := range holders {
		if w.owns(h) {
			if !h.settled {
				h.fields().union(own, added|modified)
			}
			h.Time = cmp.Or(now, h.Time)
			return holders
		}
	}
	own.claim()
	return append(holders, &holder{set: own, ManagedFieldsEntry: metav1.ManagedFieldsEntry{
		Manager: w.manager(), Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: w.APIVersion,
		Time: now, FieldsType: "FieldsV1", Subresource: w.Subresource,
	}})
}

func encode(holders []*holder) []metav1.ManagedFieldsEntry {
	if len(holders) == 0 {
		return nil
	}
	list := make([]metav1.ManagedFieldsEntry, len(holders))
	var space [2048]byte
	for i, h := range holders {
		if h.set != nil {
			h.FieldsV1 = &metav1.FieldsV1{}
			h.FieldsV1.SetRawBytes(h.set.appendFields(space[:0]))
		}
		list[i] = h.ManagedFieldsEntry
	}
	inOrder(list)
	return list
}

func seconds(t *metav1.Time) int64 {
	if t == nil {
		return 0
	}
	return t.Unix()
}

// Check returns an error if a client sent invalid entries.
func Check(entries []metav1.ManagedFieldsEntry) error {
	for i, e := range entries {
		switch {
		case e.Operation != metav1.ManagedFieldsOperationApply && e.Operation != metav1.ManagedFieldsOperationUpdate:
			return errors.New("operation must be `Apply` or `Update`")
		case e.APIVersion == "":
			return errors.New("apiVersion must not be empty")
		case e.FieldsType == "":
			return fmt.Errorf("missing fieldsType in managed fields entry %d", i)
		case e.FieldsType != "FieldsV1":
			return fmt.Errorf("invalid fieldsType %q in managed fields entry %d", e.FieldsType, i)
		}
		if e.FieldsV1 != nil {
			if err := check(e.FieldsV1.GetRawBytes()); err != nil {
				return err
			}
		}
	}
	return nil
}

// Resets reports whether a client asks to start its object's managed fields afresh.
func Resets(entries []metav1.ManagedFieldsEntry) bool {
	if len(entries) != 1 {
		return len(entries) == 0 && entries != nil
	}
	return entries[0] == metav1.ManagedFieldsEntry{}
}
