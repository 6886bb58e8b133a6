package codec_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/codec"
)

// These tests hold with and without the tag purego. The fast codecs have tests of their own.

func pod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "u", ResourceVersion: "7", Labels: map[string]string{"app": "<web>"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "i", Resources: corev1.ResourceRequirements{
			Limits: corev1.ResourceList{"cpu": resource.MustParse("100m")},
		}}}},
	}
}

func TestJSON(t *testing.T) {
	want, err := json.Marshal(pod())
	if err != nil {
		t.Fatal(err)
	}
	text, err := codec.MarshalJSON(pod())
	if err != nil || string(text) != string(want) {
		t.Errorf("%s, want %s: %v", text, want, err)
	}
	var nilDecoder *codec.Decoder
	for name, decode := range map[string]func(any) error{
		"any source": func(into any) error { return codec.UnmarshalJSON(text, into) },
		"strict": func(into any) error {
			objections, err := codec.UnmarshalStrict(text, into)
			if len(objections) > 0 {
				t.Errorf("objections to %s: %v", text, objections)
			}
			return err
		},
		"own":      func(into any) error { return nilDecoder.JSON(text, into, false) },
		"interned": func(into any) error { return codec.NewDecoder().JSON(text, into, false) },
	} {
		got := &corev1.Pod{}
		if err := decode(got); err != nil || !codec.Equal(got, pod()) {
			t.Errorf("%s: %+v: %v", name, got, err)
		}
	}
	if id, ok := codec.IdentityOf(text); ok && id != (codec.Identity{Name: "web", Namespace: "default", UID: "u", ResourceVersion: "7"}) {
		t.Errorf("the identity is %+v", id)
	}
	message, err := pod().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := codec.AppendTranscoded(nil, text, reflect.TypeFor[corev1.Pod]()); ok && string(got) != string(message) {
		t.Errorf("transcoded to %q, want %q", got, message)
	}
}

// TestUnusual decodes input that the fast codecs leave to upstream's.
func TestUnusual(t *testing.T) {
	text := []byte(`{"metadata":{"name":"a","name":"b"},"spec":{"hostNetwork":true,"no":1}}`)
	got := &corev1.Pod{}
	if err := codec.UnmarshalJSON(text, got); err != nil || got.Name != "b" || !got.Spec.HostNetwork {
		t.Errorf("%+v: %v", got, err)
	}
	objections, err := codec.UnmarshalStrict(text, &corev1.Pod{})
	if err != nil || len(objections) != 2 || !strings.Contains(objections[0].Error()+objections[1].Error(), `unknown field "spec.no"`) {
		t.Errorf("objections %v: %v", objections, err)
	}
	if err := codec.UnmarshalJSON([]byte(`{"spec":{"hostNetwork":3}}`), got); err == nil || !strings.Contains(err.Error(), "cannot unmarshal number") {
		t.Errorf("error %v", err)
	}
}

func TestUntyped(t *testing.T) {
	text := []byte(`{"a":[1,1.5,null,true,"<"],"b":{}}`)
	want := map[string]any{"a": []any{int64(1), 1.5, nil, true, "<"}, "b": map[string]any{}}
	content, ok := codec.UnmarshalUntypedStrict(text)
	if !ok || !reflect.DeepEqual(content, want) {
		t.Errorf("%#v", content)
	}
	if content, err := codec.UnmarshalUntyped(text); err != nil || !reflect.DeepEqual(content, want) {
		t.Errorf("%#v: %v", content, err)
	}
	back, err := codec.MarshalUntyped(content)
	if wanted, _ := json.Marshal(want); err != nil || string(back) != string(wanted) {
		t.Errorf("%s: %v", back, err)
	}
	for _, bad := range []string{`{"a":1,"a":2}`, `[]`, `null`, `{`, ``} {
		if _, ok := codec.UnmarshalUntypedStrict([]byte(bad)); ok {
			t.Errorf("%s is accepted", bad)
		}
	}
	if content, err := codec.UnmarshalUntyped([]byte(`{"a":1,"a":2}`)); err != nil || content["a"] != int64(2) {
		t.Errorf("%v: %v", content, err)
	}
}

func TestProtobuf(t *testing.T) {
	message, err := pod().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if namespace, name := codec.Names(message); string(namespace) != "default" || string(name) != "web" {
		t.Errorf("the name is %s/%s", namespace, name)
	}
	var nilDecoder *codec.Decoder
	for _, d := range []*codec.Decoder{nilDecoder, codec.NewDecoder()} {
		got := &corev1.Pod{}
		if err := d.Protobuf(message, got, nil); err != nil || !codec.Equal(got, pod()) {
			t.Errorf("%+v: %v", got, err)
		}
		next := &corev1.Pod{}
		if err := d.Protobuf(message, next, got); err != nil || !codec.Equal(next, pod()) {
			t.Errorf("%+v: %v", next, err)
		}
		if d.Protobuf([]byte{0xff}, &corev1.Pod{}, nil) == nil {
			t.Error("a broken message is accepted")
		}
	}
}

func TestEqual(t *testing.T) {
	a, b := pod(), pod()
	b.Labels, b.Annotations = map[string]string{"app": "<web>"}, map[string]string{}
	b.Spec.Containers[0].Resources.Limits["cpu"] = resource.MustParse("0.1")
	if !codec.Equal(a, b) {
		t.Error("semantically equal pods are not equal")
	}
	b.Spec.Containers[0].Image = "j"
	if codec.Equal(a, b) {
		t.Error("pods of different images are equal")
	}
	if _, exact, err := codec.MarshalExact(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{}}}); exact || err != nil {
		t.Error("an empty map comes back as nil:", exact, err)
	}
}
