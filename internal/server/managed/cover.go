package managed

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/codec/jsonscan"
	"fairlead.dev/internal/server/openapi"
)

// SkipPruning prepares the entries for merging a configuration that includes every field its manager applied
// before. Such a merge prunes no field, and finding that out is half of the cost of a merge, so the manager's entry
// is replaced by an empty one. If the configuration lacks a field, or the entry is of another version, the entries
// are returned unchanged.
func SkipPruning(entries []metav1.ManagedFieldsEntry, own metav1.ManagedFieldsEntry, config []byte, s *openapi.Shape) []metav1.ManagedFieldsEntry {
	for i, e := range entries {
		if e.Operation != metav1.ManagedFieldsOperationApply || e.Manager != own.Manager || e.Subresource != own.Subresource {
			continue
		}
		if e.APIVersion != own.APIVersion || e.FieldsV1 == nil || !covers(config, e.FieldsV1.GetRawBytes(), s) {
			return entries
		}
		list := append([]metav1.ManagedFieldsEntry(nil), entries...)
		list[i].FieldsV1 = &metav1.FieldsV1{}
		list[i].FieldsV1.SetRawBytes([]byte("{}"))
		return list
	}
	return entries
}

// covers reports whether the configuration has all paths of the set.
func covers(config, set []byte, s *openapi.Shape) bool { return parse(set).in(config, s) }

// in reports whether the value has all paths of the set.
func (n *node) in(value []byte, s *openapi.Shape) bool {
	if s.Kind == openapi.Keyed || s.Kind == openapi.Set {
		return n.inItems(itemsOf(value, s), s)
	}
	var room [16]jsonscan.Member
	members := jsonscan.Members(room[:0], value)
	for i := range n.kids {
		k := &n.kids[i]
		if k.element[0] != 'f' {
			return false
		}
		name := k.element[2:]
		at := slices.IndexFunc(members, func(m jsonscan.Member) bool { return m.Is(name) })
		if at < 0 {
			return false
		}
		_, shape := fieldOf(s, []byte(name))
		v := members[at].Value
		if shape == nil || len(k.kids) > 0 && !k.in(v, shape) || len(k.kids) == 0 && !hasFields(v, shape) {
			return false
		}
	}
	return true
}

// inItems reports whether the list has all paths of the set.
func (n *node) inItems(there items, s *openapi.Shape) bool {
	for i := range n.kids {
		k := &n.kids[i]
		at := there.find(k.element)
		if at < 0 || len(there.list[at].values) != 1 || len(k.kids) > 0 && !k.in(there.list[at].values[0], s.Elem) {
			return false
		}
	}
	return true
}

// hasFields reports whether a value adds fields to the set of its configuration. Empty lists do not.
func hasFields(v []byte, s *openapi.Shape) bool {
	switch {
	case s == nil:
		return false
	case s.Kind == openapi.Object && v[0] == '{' && !isEmpty(v):
		for _, m := range jsonscan.Members(nil, v) {
			if hasFields(m.Value, shapeIn(s, nameOf(m.Quote))) {
				return true
			}
		}
		return false
	case s.Kind == openapi.Keyed || s.Kind == openapi.Set:
		return v[0] != '[' || !isEmpty(v)
	}
	return true
}
