package fastjson_test

import (
	stdjson "encoding/json"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/codec/fastjson"
)

func TestHeadOf(t *testing.T) {
	full := fastjson.Identity{Name: "web", Namespace: "shop", UID: "u", ResourceVersion: "7"}
	for in, want := range map[string]fastjson.Identity{
		`{"kind":"Pod","metadata":{"name":"web","namespace":"shop","uid":"u","resourceVersion":"7"},"spec":{}}`:                                          full,
		` { "spec" : {"metadata":{"name":"no"}}, "metadata" : {"labels":{"name":"no"},"resourceVersion":"7","uid":"u","namespace":"shop","name":"web"}}`: full,
		`{"metadata":{"name":"n1","uid":"u","resourceVersion":"7","ownerReferences":[{"name":"no","uid":"no"}]}}`:                                        {Name: "n1", UID: "u", ResourceVersion: "7"},
		`{"metadata":{"name":"a\u0062"}}`: {Name: "ab"},
	} {
		if got, ok := fastjson.IdentityOf([]byte(in)); !ok || got != want {
			t.Errorf("%s: read %+v, %v", in, got, ok)
		}
	}
	for _, in := range []string{``, `[]`, `"x"`, `{}`, `{"kind":"Status"}`, `{"metadata":null}`, `{"metadata":{}}`, `{"metadata":{"name":1}}`, `{"metadata":{"name":null}}`,
		`{"metadata":{"name":"web"`, `{"metadata":{"name":"web",`, `{"metadata":[{"name":"web"}]}`, "k8s\x00", "\xd9\xd9\xf7"} {
		if got, ok := fastjson.IdentityOf([]byte(in)); ok {
			t.Errorf("%s: read %+v", in, got)
		}
	}
}

// TestUnmanaged checks that the managedFields of an object and of the items of a list are skipped, and those in the
// template of a pod are not.
func TestUnmanaged(t *testing.T) {
	fields := []metav1.ManagedFieldsEntry{{Manager: "m", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:a":{"k:{\"x\":\"]}\"}":{}}}`)}}
	in := &corev1.ReplicationController{ObjectMeta: metav1.ObjectMeta{Name: "a", ManagedFields: fields, Labels: map[string]string{"x": "y"}},
		Spec: corev1.ReplicationControllerSpec{Template: &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{ManagedFields: fields}}}}
	want := in.DeepCopy()
	want.ManagedFields = nil
	list := &corev1.ReplicationControllerList{Items: []corev1.ReplicationController{*in, *in}}
	wantList := &corev1.ReplicationControllerList{Items: []corev1.ReplicationController{*want, *want}}
	sharer := fastjson.NewSharer()
	for _, unmarshal := range []func([]byte, any) bool{fastjson.UnmarshalUnmanaged, sharer.UnmarshalUnmanaged, sharer.UnmarshalUnmanaged} {
		for _, c := range []struct{ in, want any }{{in, want}, {list, wantList}} {
			b, err := stdjson.Marshal(c.in)
			if err != nil {
				t.Fatal(err)
			}
			got := reflect.New(reflect.TypeOf(c.in).Elem()).Interface()
			if !unmarshal(b, got) || !reflect.DeepEqual(got, c.want) {
				t.Errorf("read %+v\nwant %+v", got, c.want)
			}
		}
	}
	b, err := stdjson.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	got := new(corev1.ReplicationController)
	if !sharer.Unmarshal(b, got) || !reflect.DeepEqual(got, in) { // the result is complete again without the option
		t.Errorf("read %+v\nwant %+v", got, in)
	}
}
