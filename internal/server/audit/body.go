package audit

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"
	"sigs.k8s.io/yaml"

	"fairlead.dev/internal/server/serializer"
)

// Object records the object that the client has sent, which encode encodes as JSON in the version of the request. It also
// names the object of the event if the path does not.
func (r *Record) Object(obj runtime.Object, gvr schema.GroupVersionResource, subresource string, encode func(runtime.Object) ([]byte, error)) {
	if r != nil {
		audit.LogRequestObject(r.ctx, obj, gvr.GroupVersion(), gvr, subresource, encoder(encode))
	}
}

// Patch records the patch that the client has sent, as JSON.
func (r *Record) Patch(text []byte) {
	if r == nil {
		return
	}
	for _, contentType := range []string{runtime.ContentTypeCBOR, runtime.ContentTypeYAML} {
		if json.Valid(text) {
			break
		}
		if converted, err := toJSON(text, contentType, ""); err == nil {
			text = converted
		}
	}
	audit.LogRequestPatch(r.ctx, text)
}

// Status records a response that is a Status.
func (r *Record) Status(s *metav1.Status) {
	if r == nil {
		return
	}
	var text *runtime.Unknown
	if raw, err := json.Marshal(s); err == nil {
		text = &runtime.Unknown{Raw: raw, ContentType: runtime.ContentTypeJSON}
	}
	r.event.LogResponseObject(s, text)
}

// Body returns the writer for a copy of the response; nil if the policy does not record it. It must be called before the
// response begins, and only for a response that is an object.
func (r *Record) Body() io.Writer {
	if r == nil || r.long || r.begun || r.config.Level.Less(auditinternal.LevelRequestResponse) {
		return nil
	}
	r.body = &bytes.Buffer{}
	return r.body
}

// KeepsBody reports whether the response is recorded.
func (r *Record) KeepsBody() bool { return r != nil && r.body != nil }

// recordBody records the response that was kept.
func (r *Record) recordBody() {
	if !r.KeepsBody() || r.body.Len() == 0 {
		return
	}
	text, err := toJSON(r.body.Bytes(), r.contentType, r.encoding)
	if err == nil && r.config.OmitManagedFields {
		text, err = withoutManagedFields(text)
	}
	if err != nil {
		audit.HandlePluginError("body", fmt.Errorf("the response is not recorded: %w", err))
		return
	}
	if text != nil {
		r.event.LogResponseObject(nil, &runtime.Unknown{Raw: text, ContentType: runtime.ContentTypeJSON})
	}
}

// toJSON returns a response of an object as JSON, nil for other responses.
func toJSON(body []byte, contentType, encoding string) ([]byte, error) {
	if encoding == "gzip" {
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		if body, err = io.ReadAll(z); err != nil {
			return nil, err
		}
	}
	switch media, _, _ := strings.Cut(contentType, ";"); media {
	case runtime.ContentTypeJSON:
		return body, nil
	case runtime.ContentTypeYAML:
		return yaml.YAMLToJSON(body)
	case runtime.ContentTypeProtobuf:
		obj, gvk, err := serializer.ProtobufSerializer.Decode(body, nil, nil)
		if err != nil {
			return nil, err
		}
		obj.GetObjectKind().SetGroupVersionKind(*gvk)
		return serializer.Marshal(obj, serializer.JSON)
	case runtime.ContentTypeCBOR:
		var v any
		if err := direct.Unmarshal(body, &v); err != nil {
			return nil, err
		}
		return json.Marshal(v)
	}
	return nil, nil
}

// withoutManagedFields returns the text of an object, a list or a table without managed fields.
func withoutManagedFields(text []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var v map[string]any
	if err := decoder.Decode(&v); err != nil {
		return nil, err
	}
	dropManagedFields(v)
	for _, name := range []string{"items", "rows"} {
		list, _ := v[name].([]any)
		for _, item := range list {
			one, _ := item.(map[string]any)
			if name == "rows" {
				one, _ = one["object"].(map[string]any)
			}
			dropManagedFields(one)
		}
	}
	return json.Marshal(v)
}

func dropManagedFields(object map[string]any) {
	if meta, ok := object["metadata"].(map[string]any); ok {
		delete(meta, "managedFields")
	}
}

// encoder is a serializer that encodes objects by the function. Upstream uses no other part of it.
type encoder func(runtime.Object) ([]byte, error)

// SupportedMediaTypes implements runtime.NegotiatedSerializer.
func (encoder) SupportedMediaTypes() []runtime.SerializerInfo {
	return []runtime.SerializerInfo{{MediaType: runtime.ContentTypeJSON}}
}

// EncoderForVersion implements runtime.NegotiatedSerializer.
func (e encoder) EncoderForVersion(runtime.Encoder, runtime.GroupVersioner) runtime.Encoder { return e }

// DecoderToVersion implements runtime.NegotiatedSerializer.
func (encoder) DecoderToVersion(runtime.Decoder, runtime.GroupVersioner) runtime.Decoder { return nil }

// Encode implements runtime.Encoder.
func (e encoder) Encode(obj runtime.Object, w io.Writer) error {
	text, err := e(obj)
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// Identifier implements runtime.Encoder.
func (encoder) Identifier() runtime.Identifier { return "audit" }
