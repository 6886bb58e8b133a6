package managed_test

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/server/managed"
)

// TestTextIsEncodingJSONs checks that text with entries cut out and inserted again equals encoding/json's encoding
// of the whole object.
func TestTextIsEncodingJSONs(t *testing.T) {
	at := metav1.Unix(1700000000, 0)
	fields := &metav1.FieldsV1{}
	fields.SetRawBytes([]byte(`{"f:data":{".":{},"f:a\u003cb":{}}}`))
	for _, meta := range []metav1.ObjectMeta{{}, {Name: "metadata"}, {Name: "x", Labels: map[string]string{"managedFields": "{"}}} {
		for _, entries := range [][]metav1.ManagedFieldsEntry{
			nil,
			{{}},
			{{Manager: "a<\"b", Operation: "Update", APIVersion: "v1", Time: &at, FieldsType: "FieldsV1", FieldsV1: fields}, {Manager: "c", Subresource: "status", FieldsV1: fields}},
		} {
			cm := corev1.ConfigMap{TypeMeta: metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"}, ObjectMeta: meta, Data: map[string]string{"metadata": "x"}}
			bare, _ := json.Marshal(&cm)
			cm.ManagedFields = entries
			whole, _ := json.Marshal(&cm)
			if got := managed.Insert(bare, entries); string(got) != string(whole) {
				t.Errorf("got  %s\nwant %s", got, whole)
			}
			rest, cut := managed.Cut(whole)
			if string(rest) != string(bare) {
				t.Errorf("cut: got  %s\nwant %s", rest, bare)
			}
			back, err := managed.Decode(cut)
			if err != nil || string(managed.Append(nil, back)) != string(managed.Append(nil, entries)) {
				t.Errorf("%s came back as %+v, %v", cut, back, err)
			}
		}
	}
	rest, cut := managed.Cut([]byte(`{ "metadata" : { "managedFields" : [ {} ] , "name" : "x" } , "data":{}}`))
	if string(rest) != `{ "metadata" : { "name" : "x" } , "data":{}}` || string(cut) != `[ {} ]` {
		t.Errorf("%s %s", rest, cut)
	}
}
