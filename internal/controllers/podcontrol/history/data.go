package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/rand"
)

// maxPrefix is the maximum length of the owner's name in a revision's name.
const maxPrefix = 223

// Data returns the patch that restores the template. Members are sorted, so that equal templates give equal bytes.
func Data(t *corev1.PodTemplateSpec) ([]byte, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	var template map[string]any
	if err := json.Unmarshal(text, &template); err != nil {
		return nil, err
	}
	template["$patch"] = "replace"
	return json.Marshal(map[string]any{"spec": map[string]any{"template": template}})
}

// Template decodes the result of Data.
func Template(r *appsv1.ControllerRevision) (*corev1.PodTemplateSpec, error) {
	var p struct {
		Spec struct {
			Template corev1.PodTemplateSpec `json:"template"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(r.Data.Raw, &p); err != nil {
		return nil, fmt.Errorf("ControllerRevision %s/%s: %w", r.Namespace, r.Name, err)
	}
	return &p.Spec.Template, nil
}

// holds reports whether the revision's template equals that in data. One that an older server wrote may be encoded
// differently: then it is decoded and encoded again.
func holds(r *appsv1.ControllerRevision, data []byte) bool {
	if bytes.Equal(r.Data.Raw, data) {
		return true
	}
	t, err := Template(r)
	if err != nil {
		return false
	}
	again, err := Data(t)
	return err == nil && bytes.Equal(again, data)
}

// hash encodes a 32-bit FNV-1 hash of the data and the number of collisions.
func hash(data []byte, collisions int32) string {
	h := fnv.New32()
	h.Write(data)
	h.Write(strconv.AppendInt(nil, int64(collisions), 10))
	return rand.SafeEncodeString(fmt.Sprint(h.Sum32()))
}

func name(owner, hash string) string { return owner[:min(len(owner), maxPrefix)] + "-" + hash }
