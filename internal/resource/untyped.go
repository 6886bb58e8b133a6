package resource

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/codec"
)

// Untyped is an object of a kind without a Go type. It is an Unstructured with its managed fields beside it: each
// write would otherwise have to decode and encode them among the other members.
//
// The embedded object never has managedFields in its metadata. Code that passes on only the embedded object loses
// them; [Untyped.UnstructuredContent] returns the whole object.
type Untyped struct {
	unstructured.Unstructured
	Entries []metav1.ManagedFieldsEntry
}

var _ runtime.Unstructured = (*Untyped)(nil)

// NewUntyped takes over an object and its managed fields.
func NewUntyped(u *unstructured.Unstructured) *Untyped {
	o := &Untyped{}
	o.SetUnstructuredContent(u.Object)
	return o
}

// GetManagedFields implements metav1.Object. The list must not be modified.
func (u *Untyped) GetManagedFields() []metav1.ManagedFieldsEntry { return u.Entries }

// SetManagedFields implements metav1.Object.
func (u *Untyped) SetManagedFields(entries []metav1.ManagedFieldsEntry) { u.Entries = entries }

// DeepCopyObject implements runtime.Object. Entries are never modified, only replaced.
func (u *Untyped) DeepCopyObject() runtime.Object {
	return &Untyped{Unstructured: unstructured.Unstructured{Object: runtime.DeepCopyJSON(u.Object)}, Entries: slices.Clone(u.Entries)}
}

// WithManagedFields returns the object with the managed fields in its metadata. It shares the rest.
func (u *Untyped) WithManagedFields() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: u.UnstructuredContent()}
}

// UnstructuredContent implements runtime.Unstructured.
func (u *Untyped) UnstructuredContent() map[string]any {
	if len(u.Entries) == 0 {
		return u.Unstructured.UnstructuredContent()
	}
	whole := unstructured.Unstructured{Object: make(map[string]any, len(u.Object)+1)}
	for k, v := range u.Object {
		whole.Object[k] = v
	}
	had, _ := u.Object["metadata"].(map[string]any)
	meta := make(map[string]any, len(had)+1)
	for k, v := range had {
		meta[k] = v
	}
	whole.Object["metadata"] = meta
	whole.SetManagedFields(u.Entries)
	return whole.Object
}

// SetUnstructuredContent implements runtime.Unstructured. It moves the managed fields out of the content.
func (u *Untyped) SetUnstructuredContent(content map[string]any) {
	u.Object, u.Entries = content, nil
	if meta, ok := content["metadata"].(map[string]any); ok && meta["managedFields"] != nil {
		u.Entries = u.Unstructured.GetManagedFields()
		delete(meta, "managedFields")
	}
}

// NewEmptyInstance implements runtime.Unstructured.
func (u *Untyped) NewEmptyInstance() runtime.Unstructured {
	out := &Untyped{}
	out.SetGroupVersionKind(u.GroupVersionKind())
	return out
}

// MarshalJSON implements json.Marshaler. The result does not end with a line break.
func (u *Untyped) MarshalJSON() ([]byte, error) {
	return codec.MarshalUntyped(u.UnstructuredContent())
}

// UnmarshalJSON implements json.Unmarshaler.
func (u *Untyped) UnmarshalJSON(text []byte) error {
	if content, err := codec.UnmarshalUntyped(text); err == nil {
		if kind, _ := content["kind"].(string); kind != "" {
			u.SetUnstructuredContent(content)
			return nil
		}
	}
	whole := &unstructured.Unstructured{}
	if err := whole.UnmarshalJSON(text); err != nil {
		return err
	}
	u.SetUnstructuredContent(whole.Object)
	return nil
}
