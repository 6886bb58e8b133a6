package client

import (
	"context"
	stdjson "encoding/json"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

// Patch is a change to send. Make one with MergePatch, StrategicPatch, JSONPatch,
// ApplyPatch or MergeFrom, or fill it in.
type Patch struct {
	Type        types.PatchType
	Data        []byte
	Subresource string // "" for the object itself
	err         error  // of its construction; returned when it is sent
}

// On returns the patch aimed at a subresource whose answer is the object, such as
// "status". For the scale there is PatchScale.
func (p Patch) On(subresource string) Patch {
	p.Subresource = subresource
	return p
}

// MergePatch is a JSON merge patch (RFC 7386) with the JSON of v.
func MergePatch(v any) Patch { return newPatch(types.MergePatchType, v) }

// StrategicPatch is a strategic merge patch with the JSON of v: lists of built-in types
// merge by their keys.
func StrategicPatch(v any) Patch { return newPatch(types.StrategicMergePatchType, v) }

// JSONPatch is a JSON patch (RFC 6902): v encodes to a list of operations.
func JSONPatch(v any) Patch { return newPatch(types.JSONPatchType, v) }

// ApplyPatch is a server-side apply of v, which must have its kind set. Its options
// must name a FieldManager.
func ApplyPatch(v any) Patch { return newPatch(types.ApplyPatchType, v) }

func newPatch(t types.PatchType, v any) Patch {
	b, err := encodeJSON(v)
	if err != nil {
		err = fmt.Errorf("client: making the patch: %w", err)
	}
	return Patch{Type: t, Data: b, err: err}
}

// MergeFrom is the JSON merge patch that leads from old to new. It does not fail if
// the object has changed since; MergeFromLocked does.
func MergeFrom(old, new Object) Patch { return diff(old, new, false) }

// MergeFromLocked is MergeFrom that only holds for the resourceVersion of old: if the
// object has changed since, the error is a conflict.
func MergeFromLocked(old, new Object) Patch { return diff(old, new, true) }

func diff(old, new Object, lock bool) Patch {
	p := Patch{Type: types.MergePatchType}
	a, err := encodeJSON(old)
	if err != nil {
		p.err = err
		return p
	}
	b, err := encodeJSON(new)
	if err != nil {
		p.err = err
		return p
	}
	if p.Data, p.err = jsonpatch.CreateMergePatch(a, b); p.err != nil || !lock {
		return p
	}
	var m map[string]any
	if p.err = stdjson.Unmarshal(p.Data, &m); p.err != nil {
		return p
	}
	md, _ := m["metadata"].(map[string]any)
	if md == nil {
		md = map[string]any{}
		m["metadata"] = md
	}
	md["resourceVersion"] = old.GetResourceVersion()
	p.Data, p.err = stdjson.Marshal(m)
	return p
}

// IsEmpty reports whether the patch has no changes.
func (p Patch) IsEmpty() bool { return p.err == nil && string(p.Data) == "{}" }

// Patch changes an object and returns it as the server stored it.
func (r Resource[T]) Patch(ctx context.Context, name string, p Patch, opts ...metav1.PatchOptions) (T, error) {
	var none T
	if p.err != nil {
		return none, p.err
	}
	if p.Subresource == "scale" && r.gvk.Kind != "" {
		return none, fmt.Errorf("client: the scale of a %s is no %s: use PatchScale", r.gvk.Kind, r.gvk.Kind)
	}
	path, err := r.path(ctx, r.ns, name, p.Subresource)
	if err != nil {
		return none, err
	}
	q, err := query(first(opts))
	if err != nil {
		return none, err
	}
	res, err := r.c.rest.Do(ctx, Request{
		Method: http.MethodPatch, Path: path, Query: q, Body: p.Data,
		ContentType: string(p.Type), Accept: r.codec.accept,
	})
	if err != nil {
		return none, err
	}
	return r.written(ctx, res)
}
