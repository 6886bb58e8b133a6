package write

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/purego"
	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/managed"
	"fairlead.dev/internal/server/openapi"
	"fairlead.dev/internal/server/serializer"
	"fairlead.dev/watchcache"
)

// fieldManager is a field manager as it writes.
type fieldManager struct {
	name string
	// replicasOnly: it writes the object's replicas, through a Scale.
	replicasOnly bool
}

// manager returns the field manager of the call's writes: the one in the options, else the
// beginning of the user agent.
func (c *Operation) manager(asked string) fieldManager {
	if asked != "" {
		return fieldManager{name: asked}
	}
	agent, _, _ := strings.Cut(c.HTTP.UserAgent(), "/")
	var b strings.Builder
	for _, r := range agent {
		if !unicode.IsPrint(r) {
			continue
		}
		if b.Len()+utf8.RuneLen(r) > validation.FieldManagerMaxLength {
			break
		}
		b.WriteRune(r)
	}
	return fieldManager{name: b.String()}
}

// recordFields enters into obj the owners of its fields after this write. old is nil if the
// write creates; else now has its text. On an error the owners stay as they were.
func (c *Operation) recordFields(obj, old resource.Object, now *watchcache.Object, manager fieldManager) {
	if err := c.tryRecord(obj, old, now, manager); err != nil {
		c.Log.Warn("field managers not recorded", "resource", c.Endpoint.ServedGR, "name", obj.GetName(), "error", err)
		var entries []metav1.ManagedFieldsEntry
		if old != nil {
			entries = old.GetManagedFields()
		}
		obj.SetManagedFields(entries)
	}
}

// RecordInternal enters into obj the owners of its fields after a write by the server itself.
func (c *Operation) RecordInternal(obj, old resource.Object, now *watchcache.Object) {
	c.recordFields(obj, old, now, fieldManager{name: "kube-apiserver"})
}

// RecordBody enters the owners of the fields of a body that is answered and not stored.
func (c *Operation) RecordBody(body runtime.Object, gvk schema.GroupVersionKind, opts *metav1.CreateOptions) {
	obj, ok := body.(resource.Object)
	if !ok {
		return
	}
	obj.SetManagedFields(nil)
	t := reflect.TypeOf(body).Elem()
	w := managed.Write{
		Manager: c.manager(opts.FieldManager).name, Subresource: c.Info.Subresource, APIVersion: gvk.GroupVersion().String(),
		Shape: openapi.ShapeOf(t), Create: true, Time: time.Now(),
	}
	var err error
	if w.Old, err = serializer.Marshal(reflect.New(t).Interface().(runtime.Object), serializer.JSON); err == nil {
		w.New, err = serializer.Marshal(body, serializer.JSON)
	}
	if err != nil {
		c.Log.Warn("field managers not recorded", "kind", gvk, "error", err)
		return
	}
	obj.SetManagedFields(w.Update(nil))
}

func (c *Operation) tryRecord(obj, old resource.Object, now *watchcache.Object, manager fieldManager) (err error) {
	entries := c.recordBefore(obj, old)
	if len(entries) == 0 && old != nil {
		obj.SetManagedFields(nil) // a record is not begun later
		return nil
	}
	if purego.Enabled && !manager.replicasOnly { // upstream's scale edits entries by code of its own
		return c.recordByUpstream(obj, old, entries, manager)
	}
	obj.SetManagedFields(nil)
	var lost string // the version of an entry, if a custom object cannot be converted to it
	w := managed.Write{
		Manager: manager.name, Subresource: c.Info.Subresource, APIVersion: c.Endpoint.ServedGVK.GroupVersion().String(),
		Filter: managed.Filter{Without: c.Endpoint.Reset(c.Info.Subresource)}, Create: old == nil, Time: time.Now(),
		Other: func(v string) ([]byte, []byte, *openapi.Shape, bool) {
			before, after, shape, ok := c.Endpoint.Texts(c.Context, v, obj, old)
			if !ok && c.Endpoint.Redefinable {
				lost = v
			}
			return before, after, shape, ok
		},
	}
	if manager.replicasOnly {
		w.Filter, w.Time = c.Endpoint.ReplicasOnly(), time.Time{} // kube-apiserver notes no time here
	}
	w.Shape = c.Endpoint.Shape()
	if was := c.structBefore(obj, old); was != nil && !purego.Enabled {
		if after, ok := w.UpdateValues(was, obj, entries); ok {
			obj.SetManagedFields(after)
			return nil
		}
	}
	if w.New, err = c.Endpoint.Text(obj); err != nil {
		return err
	}
	switch {
	case old == nil:
		w.Old, err = c.Endpoint.EmptyText()
	case c.Endpoint.Raw && c.Endpoint.Current(now):
		w.Old = c.textOf(now)
	default:
		w.Old, err = c.Endpoint.Text(old)
	}
	if err != nil {
		return err
	}
	if entries = w.Update(entries); lost != "" {
		return fmt.Errorf("the object has no form in %s", lost)
	}
	obj.SetManagedFields(entries)
	return nil
}

// structBefore returns the object that obj is compared with, if both have the Go type of the
// endpoint's version: old, or an empty object. Else it returns nil.
func (c *Operation) structBefore(obj, old resource.Object) any {
	if c.Endpoint.GoType == nil || reflect.TypeOf(obj).Elem() != c.Endpoint.GoType {
		return nil
	}
	if old == nil {
		return c.Endpoint.Empty()
	}
	if reflect.TypeOf(old).Elem() != c.Endpoint.GoType {
		return nil
	}
	return old
}

// recordBefore returns the managed fields that a write starts from: those that the client
// sends, which it may edit, if they are valid, and else those of the old object.
func (c *Operation) recordBefore(obj, old resource.Object) []metav1.ManagedFieldsEntry {
	var there []metav1.ManagedFieldsEntry
	if old != nil {
		there = old.GetManagedFields()
	}
	sent := obj.GetManagedFields()
	switch {
	case c.Info.Subresource != "":
	case managed.Resets(sent):
		return nil
	case len(sent) > 0 && !sameEntries(sent, there) && managed.Check(sent) == nil:
		return managed.Distinct(sent)
	}
	return there
}

func sameEntries(a, b []metav1.ManagedFieldsEntry) bool {
	return slices.EqualFunc(a, b, func(a, b metav1.ManagedFieldsEntry) bool {
		return sameEntry(a, b) && a.Time.Equal(b.Time)
	})
}

// sameEntry compares entries without their times.
func sameEntry(a, b metav1.ManagedFieldsEntry) bool {
	x, y := a.FieldsV1, b.FieldsV1
	a.FieldsV1, b.FieldsV1, a.Time, b.Time = nil, nil, nil, nil
	return a == b && (x == nil) == (y == nil) && (x == nil || x.Equal(*y))
}

// keepTimes restores the times of the managed fields if nothing else in the object has
// changed, and reports whether that is so.
func (w *Written) keepTimes(now *watchcache.Object, old resource.Object) bool {
	list, was := w.obj.GetManagedFields(), old.GetManagedFields()
	if len(list) == 0 || !slices.EqualFunc(list, was, sameEntry) || !managed.SameBut(w.value, now.Value()) {
		return false
	}
	w.obj.SetManagedFields(was)
	w.value = now.Value()
	return true
}
