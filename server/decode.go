package server

import (
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"fairlead.dev/internal/resource"
)

// protoCodec encodes and decodes the Go types that have a protobuf form.
var protoCodec = protobuf.NewSerializer(resource.Scheme(), resource.Scheme())

// decodeBody decodes a body into obj, a new object of the kind want. What the
// strict rules object to (unknown and duplicate fields) becomes warnings or,
// if the directive is Strict, the error.
func decodeBody(data []byte, m media, want schema.GroupVersionKind, obj runtime.Object, directive string) (warnings []string, err error) {
	var strict []error
	text := data
	switch m {
	case mediaProto:
		return nil, decodeProto(data, want, obj)
	case mediaCBOR:
		return decodeCBOR(data, want, obj, directive)
	case mediaYAML:
		text, strict, err = yamlToJSON(data, directive != metav1.FieldValidationIgnore)
		if err != nil {
			return nil, undecodable(want, data, err)
		}
	}
	more, err := decodeText(text, obj, directive != metav1.FieldValidationIgnore)
	strict = append(strict, more...)
	if kindErr := checkKind(text, data, want, obj, err); kindErr != nil {
		return nil, kindErr
	}
	if len(strict) == 0 {
		return nil, nil
	}
	if directive == metav1.FieldValidationStrict {
		return nil, unhandled(want, want, runtime.NewStrictDecodingError(strict))
	}
	return strictWarnings(strict), nil
}

// checkKind finds out what is wrong with a body that failed to decode or that
// is of another kind, and completes the type of one that does not say it.
func checkKind(text, original []byte, want schema.GroupVersionKind, obj runtime.Object, err error) error {
	got := obj.GetObjectKind().GroupVersionKind()
	if err != nil || got.Version == "" {
		var e error
		if got, e = kindOf(text); e != nil {
			return undecodable(want, original, e)
		}
	}
	if got.Kind == "" {
		got.Kind = want.Kind
	}
	if got.Version == "" {
		got.Group, got.Version = want.Group, want.Version
	}
	if got != want {
		return wrongKind(got, want)
	}
	if err != nil {
		return unhandled(got, want, err)
	}
	obj.GetObjectKind().SetGroupVersionKind(want)
	return nil
}

// kindOf is the kind that a text says it is of. What is wrong with one that does
// not is worded as decoders of Kubernetes do, down to the type they decode into.
func kindOf(text []byte) (schema.GroupVersionKind, error) {
	var said struct {
		APIVersion string `json:"apiVersion,omitempty"`
		Kind       string `json:"kind,omitempty"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &said); err != nil {
		return schema.GroupVersionKind{}, fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
	}
	gv, err := schema.ParseGroupVersion(said.APIVersion)
	return gv.WithKind(said.Kind), err
}

func wrongKind(got, want schema.GroupVersionKind) error {
	if got.Kind == want.Kind && resource.Scheme().Recognizes(got) {
		return versionMismatch(got.GroupVersion(), want.GroupVersion())
	}
	return unhandled(got, want, otherKind(got, want, nil))
}

// otherKind is why an object of one kind, of which the text may be given, is none of
// another.
func otherKind(got, want schema.GroupVersionKind, text []byte) error {
	other, err := resource.Scheme().New(got)
	if err != nil {
		return fmt.Errorf("no kind %q is registered for version %q in scheme \"pkg/runtime/scheme.go:111\"", got.Kind, got.GroupVersion())
	}
	if text != nil {
		if _, err := decodeText(text, other, false); err != nil {
			return err
		}
	}
	internal, _, _ := strings.Cut(want.Group, ".")
	if internal == "" {
		internal = "core"
	}
	return fmt.Errorf("converting (%s) to (%s.%s): unknown conversion", reflect.TypeOf(other).Elem(), internal, want.Kind)
}

func versionMismatch(got, want schema.GroupVersion) error {
	return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", got, want))
}

func unhandled(got, want schema.GroupVersionKind, err error) error {
	return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", got.Kind, got.Version, want.Kind, err))
}

func undecodable(want schema.GroupVersionKind, data []byte, err error) error {
	return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", want.Kind, err, summarize(data)))
}

// summarize shows the beginning of a body that nobody understood.
func summarize(data []byte) string {
	const most = 30
	if len(data) == 0 {
		return "<empty>"
	}
	dots := ""
	if len(data) > most {
		data, dots = data[:most], " ..."
	}
	if data[0] == '{' {
		return string(data) + dots
	}
	return hex.EncodeToString(data) + dots
}

func decodeProto(data []byte, want schema.GroupVersionKind, obj runtime.Object) error {
	if err := checkNumbers(data, obj); err != nil {
		return unhandled(want, want, err)
	}
	got, gvk, err := protoCodec.Decode(data, &want, obj)
	switch {
	case err != nil && gvk != nil && gvk.Kind != "":
		return unhandled(*gvk, want, err)
	case err != nil:
		return undecodable(want, data, err)
	case got != obj || *gvk != want:
		return wrongKind(*gvk, want)
	}
	obj.GetObjectKind().SetGroupVersionKind(want)
	return nil
}

// yamlToJSON converts a document; with strict it also reports keys that stand
// there twice.
func yamlToJSON(data []byte, strict bool) ([]byte, []error, error) {
	text, err := yaml.YAMLToJSON(data)
	if err != nil || !strict {
		return text, nil, err
	}
	if _, err := yaml.YAMLToJSONStrict(data); err != nil {
		return text, []error{err}, nil
	}
	return text, nil, nil
}

// strictWarnings words the objections as warnings; those of the YAML parser
// are several in one.
func strictWarnings(errs []error) []string {
	var list []string
	for _, err := range errs {
		text := err.Error()
		short := strings.TrimPrefix(text, "error converting YAML to JSON: ")
		lines, isYAML := strings.CutPrefix(short, "yaml: unmarshal errors:\n")
		if !isYAML {
			list = append(list, text)
			continue
		}
		for line := range strings.SplitSeq(lines, "\n") {
			list = append(list, strings.TrimSpace(line))
		}
	}
	return list
}
