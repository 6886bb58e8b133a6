package kubeapiserver_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// notField is the field JSONSchemaProps.not.
const notField = 28

// nestedSchema returns a definition in protobuf whose schema has that many levels.
func nestedSchema(t *testing.T, levels int) string {
	t.Helper()
	var reversed []byte // it grows at the outermost level
	for range levels {
		head := protowire.AppendVarint(protowire.AppendTag(nil, notField, protowire.BytesType), uint64(len(reversed)))
		slices.Reverse(head)
		reversed = append(reversed, head...)
	}
	slices.Reverse(reversed)
	object := apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "things.example.com"}}
	raw, err := object.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	message := reversed
	for _, field := range []protowire.Number{1, 4, 7} { // openAPIV3Schema, schema, versions
		message = protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), message)
	}
	raw = protowire.AppendBytes(protowire.AppendTag(raw, 2, protowire.BytesType), message) // the second spec, which is merged into the first
	envelope := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}, Raw: raw}
	text, err := envelope.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return "k8s\x00" + string(text)
}

// TestDeepProtobuf: a protobuf body of very many levels, on which decoder and validation would recurse until the process ends, is
// refused. One of fewer levels is validated.
func TestDeepProtobuf(t *testing.T) {
	base := host(start(t)("root-token"))
	c := browser(t, false)
	const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All"
	for levels, want := range map[int]int{9_000: http.StatusUnprocessableEntity, 10_001: http.StatusBadRequest, 500_000: http.StatusBadRequest} {
		resp, text := send(t, c, "POST", base+path, strings.NewReader(nestedSchema(t, levels)), http.Header{"Content-Type": {"application/vnd.kubernetes.protobuf"}})
		if resp.StatusCode != want || (want == http.StatusBadRequest) != strings.Contains(text, "exceeded max depth of 10000") {
			t.Errorf("%d levels: %s %.300s", levels, resp.Status, text)
		}
	}
}
