package corpus_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"sigs.k8s.io/yaml"

	"fairlead.dev/internal/resource"
)

// pieces matches the pieces of a body that is not a manifest: texts in Go's quotes, each with its number of
// repetitions.
var pieces = regexp.MustCompile(`("(?:[^"\\]|\\.)*")(?:\*(\d+))? *`)

// bytes builds a body from pieces.
func (r *run) bytes(text string) string {
	r.t.Helper()
	var b strings.Builder
	end := 0
	for _, m := range pieces.FindAllStringSubmatchIndex(text, -1) {
		piece, err := strconv.Unquote(text[m[2]:m[3]])
		if err != nil || m[0] != end {
			break
		}
		times := 1
		if m[4] >= 0 {
			times, _ = strconv.Atoi(text[m[4]:m[5]])
		}
		b.WriteString(strings.Repeat(r.expand(piece), times))
		end = m[1]
	}
	if end != len(text) {
		r.t.Fatalf("no body is made of %s", text)
	}
	return b.String()
}

// show prints the selected parts of an answer: headers, and with Body the body as received. With "-" the body is
// omitted.
func show(names string, resp *http.Response, body []byte) string {
	var out string
	for name := range strings.SplitSeq(names, ", ") {
		switch values := resp.Header.Values(name); {
		case name == "-":
		case name == "Body":
			out += "\nBody: " + strconv.Quote(string(body))
		case len(values) == 0 && name != "":
			out += fmt.Sprintf("\n%s absent", name)
		}
		for _, v := range resp.Header.Values(name) {
			out += fmt.Sprintf("\n%s: %s", name, v)
		}
	}
	return out
}

// asJSON converts an answer in another encoding to JSON.
func asJSON(contentType string, body []byte) []byte {
	kind, _, _ := strings.Cut(contentType, ";")
	switch kind {
	case "application/yaml":
		if text, err := yaml.YAMLToJSON(body); err == nil {
			return text
		}
	case "application/vnd.kubernetes.protobuf":
		codec := protobuf.NewSerializer(resource.Scheme(), resource.Scheme())
		if obj, gvk, err := codec.Decode(body, nil, nil); err == nil {
			obj.GetObjectKind().SetGroupVersionKind(*gvk)
			if text, err := json.Marshal(obj); err == nil {
				return text
			}
		}
	}
	return body
}
