package extension

import (
	"errors"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// restoreMeta restores a converted object's metadata, except labels and annotations, which a conversion may change.
func restoreMeta(in, out *unstructured.Unstructured) error {
	said, ok := out.Object["metadata"]
	if !ok {
		return errors.New("missing metadata in converted object")
	}
	answer, ok := said.(map[string]any)
	if !ok {
		return fmt.Errorf("invalid metadata of type %T in converted object", said)
	}
	was, _ := in.Object["metadata"].(map[string]any)
	meta := runtime.DeepCopyJSON(was)
	if meta == nil {
		meta = map[string]any{}
	}
	out.Object["metadata"] = meta
	at := field.NewPath("metadata")
	labels := func(m map[string]string) field.ErrorList { return metavalidation.ValidateLabels(m, at.Child("labels")) }
	annotations := func(m map[string]string) field.ErrorList {
		return validation.ValidateAnnotations(m, at.Child("annotation"))
	}
	if err := take(meta, answer, "labels", labels); err != nil {
		return err
	}
	return take(meta, answer, "annotations", annotations)
}

// take copies a map of strings from the converted metadata, and validates it if it has changed.
func take(meta, answer map[string]any, name string, check func(map[string]string) field.ErrorList) error {
	said := answer[name]
	if said == nil {
		delete(meta, name)
		return nil
	}
	members, ok := said.(map[string]any)
	if !ok {
		return fmt.Errorf("invalid metadata.%s of type %T in converted object", name, said)
	}
	texts := map[string]string{}
	for k, v := range members {
		text, ok := v.(string)
		if !ok {
			return fmt.Errorf("metadata.%s[%s] must be a string, but is %T in converted object", name, k, v)
		}
		texts[k] = text
	}
	before := map[string]string{}
	had, _ := meta[name].(map[string]any)
	for k, v := range had {
		before[k], _ = v.(string)
	}
	if !maps.Equal(before, texts) {
		if errs := check(texts); len(errs) > 0 {
			return errs.ToAggregate()
		}
	}
	meta[name] = members
	return nil
}
