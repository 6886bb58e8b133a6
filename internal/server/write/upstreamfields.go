package write

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/resource"
)

// recordByUpstream is tryRecord by apimachinery's field manager. entries are those before the write.
func (c *Operation) recordByUpstream(obj, old resource.Object, entries []metav1.ManagedFieldsEntry, manager fieldManager) error {
	fm, err := c.w.merges.manager(c.Context, c.Endpoint, c.Info.Subresource)
	if err != nil {
		return err
	}
	live, err := c.liveOrNew(old)
	if err != nil {
		return err
	}
	next := obj.DeepCopyObject().(resource.Object)
	next.GetObjectKind().SetGroupVersionKind(c.Endpoint.Hub())
	live.SetManagedFields(entries)
	next.SetManagedFields(entries)
	out, err := fm.Update(c.Endpoint.ToMerge(live), c.Endpoint.ToMerge(next), manager.name)
	if err != nil {
		return err
	}
	m, err := meta.Accessor(out)
	if err != nil {
		return err
	}
	obj.SetManagedFields(m.GetManagedFields())
	return nil
}
