package serializer

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

// ProtobufSerializer encodes and decodes Go types that have a protobuf form. It refuses messages that are nested too deep.
var ProtobufSerializer runtime.Serializer = shallow{protobuf.NewSerializer(resource.Scheme(), resource.Scheme())}

// DecodeBody decodes a request body into obj, a new object of kind want. directive is the
// fieldValidation option: with Strict, unknown and duplicate fields are an error; with Warn
// they are returned as warnings; with Ignore they are dropped.
func DecodeBody(data []byte, m MediaType, want schema.GroupVersionKind, obj runtime.Object, directive string) (warnings []string, err error) {
	var strict []error
	text := data
	switch m {
	case Protobuf:
		return nil, decodeProto(data, want, obj)
	case CBOR:
		return decodeCBOR(data, want, obj, directive)
	case YAML:
		text, strict, err = YAMLToJSON(data, directive != metav1.FieldValidationIgnore)
		if err != nil {
			return nil, Unrecognized(want, data, err)
		}
	}
	more, err := DecodeText(text, obj, directive != metav1.FieldValidationIgnore)
	strict = append(strict, more...)
	if kindErr := checkKind(text, data, want, obj, err); kindErr != nil {
		return nil, kindErr
	}
	if len(strict) == 0 {
		return nil, nil
	}
	if directive == metav1.FieldValidationStrict {
		return nil, CannotHandle(want, want, runtime.NewStrictDecodingError(strict))
	}
	return StrictWarnings(strict), nil
}

// checkKind explains why a body failed to decode, given the decoder's error, or that it is of
// another kind than want. If the body names no kind, obj is given want.
func checkKind(text, original []byte, want schema.GroupVersionKind, obj runtime.Object, err error) error {
	got := obj.GetObjectKind().GroupVersionKind()
	if err != nil || got.Version == "" {
		var e error
		if got, e = KindOf(text); e != nil {
			return Unrecognized(want, original, e)
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
		return CannotHandle(got, want, err)
	}
	obj.GetObjectKind().SetGroupVersionKind(want)
	return nil
}

// KindOf returns the kind that a JSON text names. Its errors are those of Kubernetes'
// decoders, down to the Go type that they decode into.
func KindOf(text []byte) (schema.GroupVersionKind, error) {
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

// wrongKind returns the error for a body of kind got where want is required.
func wrongKind(got, want schema.GroupVersionKind) error {
	if got.Kind == want.Kind && resource.Scheme().Recognizes(got) {
		return VersionMismatch(got.GroupVersion(), want.GroupVersion())
	}
	return CannotHandle(got, want, ConversionError(got, want, nil))
}

// ConversionError explains why an object of kind got cannot become one of kind want. If text,
// the object's JSON, is given and does not decode as got, that error is returned instead.
func ConversionError(got, want schema.GroupVersionKind, text []byte) error {
	other, err := resource.Scheme().New(got)
	if err != nil {
		return fmt.Errorf("no kind %q is registered for version %q in scheme \"pkg/runtime/scheme.go:111\"", got.Kind, got.GroupVersion())
	}
	if text != nil {
		if _, err := DecodeText(text, other, false); err != nil {
			return err
		}
	}
	internal, _, _ := strings.Cut(want.Group, ".")
	if internal == "" {
		internal = "core"
	}
	return fmt.Errorf("converting (%s) to (%s.%s): unknown conversion", reflect.TypeOf(other).Elem(), internal, want.Kind)
}

// VersionMismatch returns the error for a body in another API version than that of the path.
func VersionMismatch(got, want schema.GroupVersion) error {
	return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", got, want))
}

// CannotHandle returns the error for a body of a known kind that cannot be decoded as want.
func CannotHandle(got, want schema.GroupVersionKind, err error) error {
	return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", got.Kind, got.Version, want.Kind, err))
}

// Unrecognized returns the error for a body whose kind cannot be determined.
func Unrecognized(want schema.GroupVersionKind, data []byte, err error) error {
	return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", want.Kind, err, summarize(data)))
}

// summarize returns the first bytes of a body for an error message: as text if it looks like
// JSON, else in hexadecimal.
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

// decodeProto is DecodeBody for protobuf, which has no unknown fields to report.
func decodeProto(data []byte, want schema.GroupVersionKind, obj runtime.Object) error {
	if err := CheckNumbers(data, obj); err != nil {
		return CannotHandle(want, want, err)
	}
	got, gvk, err := ProtobufSerializer.Decode(data, &want, obj)
	switch {
	case err != nil && gvk != nil && gvk.Kind != "":
		return CannotHandle(*gvk, want, err)
	case err != nil:
		return Unrecognized(want, data, err)
	case got != obj || *gvk != want:
		return wrongKind(*gvk, want)
	}
	obj.GetObjectKind().SetGroupVersionKind(want)
	return nil
}

// YAMLToJSON converts a document. With strict it also returns the duplicate keys, as one error
// of the YAML parser.
func YAMLToJSON(data []byte, strict bool) ([]byte, []error, error) {
	text, err := yaml.YAMLToJSON(data)
	if err != nil || !strict {
		return text, nil, err
	}
	if _, err := yaml.YAMLToJSONStrict(data); err != nil {
		return text, []error{err}, nil
	}
	return text, nil, nil
}

// StrictWarnings turns strict decoding errors into warnings, one a line. An error of the YAML
// parser holds several.
func StrictWarnings(errs []error) []string {
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
