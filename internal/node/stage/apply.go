package stage

import (
	"encoding/json"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// Apply writes an object with the patch applied into another of its type. It reports whether the patch can be
// applied here; the server may still do so if it cannot.
func Apply[T any](p *Patch, from, to *T) bool {
	text, err := json.Marshal(from)
	if err != nil {
		return false
	}
	switch p.Type {
	case types.StrategicMergePatchType:
		text, err = strategicpatch.StrategicMergePatch(text, p.Data, *new(T))
	case types.MergePatchType:
		text, err = jsonpatch.MergePatch(text, p.Data)
	default:
		var ops jsonpatch.Patch
		if ops, err = jsonpatch.DecodePatch(p.Data); err == nil {
			text, err = ops.Apply(text)
		}
	}
	return err == nil && json.Unmarshal(text, to) == nil
}
