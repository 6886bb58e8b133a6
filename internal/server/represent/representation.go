package represent

import (
	"context"
	"fmt"
	"net/url"
	"reflect"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/codec"
	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/serializer"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// Representation is the negotiated representation of an endpoint's objects in a response: API
// version, shape and media type.
//
// Its unit is an element: an object's JSON text, its protobuf message without envelope, its
// CBOR map without kind and version, or its table row. Bodies, lists and watch frames are
// built around elements. Elements are kept with the object for the next reader.
type Representation struct {
	Endpoint *endpoint.Endpoint
	request.ResponseFormat
	include metav1.IncludeObjectPolicy // of the object in a table row
	id      watchcache.Encoding
	// message is the Go type whose protobuf message an element is; nil if elements are no
	// messages, or need a conversion.
	message reflect.Type
	// Context is the request's. It bounds conversions while the request waits for them.
	Context context.Context
	// Preconverted has the objects that Preconvert has converted, as JSON.
	Preconverted map[*watchcache.Object][]byte
}

// stored reports whether stored bytes are elements as they are; those of custom objects only
// if they follow the kind's present definition.
func (f *Representation) stored() bool {
	return f.Endpoint.Raw && f.Shape == request.AsObject && f.Media.IsText()
}

// elements returns the media type of elements.
func (f *Representation) elements() serializer.MediaType {
	if f.Media.IsText() {
		return serializer.JSON
	}
	return f.Media
}

// AppendElement appends the object's element.
func (f *Representation) AppendElement(dst []byte, o *watchcache.Object) ([]byte, error) {
	if f.stored() {
		return f.Endpoint.AppendStored(f.Context, dst, o)
	}
	if f.storedMetadata(o) {
		return f.appendMetadata(dst, o, o.Revision()), nil
	}
	e, err := f.element(o)
	return append(dst, e...), err
}

// element returns the object's element. Table rows show ages, so they are not kept.
func (f *Representation) element(o *watchcache.Object) ([]byte, error) {
	if f.Shape == request.AsTable {
		return f.build(o, o.Revision())
	}
	return endpoint.FormOf(f.Context, o, f.id, f.buildForm)
}

func (f *Representation) buildForm(o *watchcache.Object) ([]byte, error) {
	return f.build(o, o.Revision())
}

// AppendEventElement appends the element of an event, which all watchers share.
func (f *Representation) AppendEventElement(dst []byte, e watchcache.Event) ([]byte, error) {
	switch {
	case f.stored() && f.Endpoint.Current(e.Object):
		return e.AppendObject(dst), nil
	case f.Shape != request.AsTable && e.Revision == e.Object.Revision():
		return f.AppendElement(dst, e.Object) // the object as lists show it
	case f.storedMetadata(e.Object):
		return f.appendMetadata(dst, e.Object, e.Revision), nil
	}
	b, err := e.Encoding(f.id, func(e watchcache.Event) ([]byte, error) { return f.build(e.Object, e.Revision) })
	return append(dst, b...), err
}

// messageType returns the value of message.
func (f *Representation) messageType() reflect.Type {
	switch {
	case f.Media != serializer.Protobuf || f.Endpoint.GoType == nil:
		return nil
	case f.Shape == request.AsObject:
		return f.Endpoint.GoType
	case f.Shape == request.AsPartial || f.Shape == request.AsPartialList:
		return reflect.TypeFor[metav1.PartialObjectMetadata]()
	}
	return nil
}

// build makes an element. A protobuf message is made from stored JSON without a Go object in
// between (see codec.AppendTranscoded): the bytes are the same, at a quarter of the cost.
func (f *Representation) build(o *watchcache.Object, rev storage.Revision) ([]byte, error) {
	if f.message != nil {
		if message, ok := f.transcode(nil, o, rev); ok {
			return message, nil
		}
	}
	obj, err := f.decode(o)
	if err != nil {
		return nil, err
	}
	if rev != o.Revision() {
		m, err := meta.Accessor(obj)
		if err != nil {
			return nil, err
		}
		m.SetResourceVersion(rev.String())
	}
	return f.Encode(obj)
}

// transcode appends the object's message, of its stored JSON.
func (f *Representation) transcode(dst []byte, o *watchcache.Object, rev storage.Revision) ([]byte, bool) {
	box := Buffers.Get().(*[]byte)
	text := o.AppendJSONAt((*box)[:0], rev)
	defer func() { ReleaseBuffer(box, text) }()
	return codec.AppendTranscoded(dst, text, f.message)
}

// decode returns the object, from its preconverted text if there is one.
func (f *Representation) decode(o *watchcache.Object) (runtime.Object, error) {
	text := f.Preconverted[o]
	if text == nil {
		return f.Endpoint.Decode(f.Context, o.Value(), o.Revision())
	}
	u, err := endpoint.DecodeUntyped(text)
	if err != nil {
		return nil, err
	}
	return resource.NewUntyped(u), nil
}

// Encode makes the element of an object of the hub version.
func (f *Representation) Encode(obj runtime.Object) ([]byte, error) {
	switch f.Shape {
	case request.AsTable:
		return f.row(obj)
	case request.AsPartial, request.AsPartialList:
		p, err := f.Partial(obj)
		if err != nil {
			return nil, err
		}
		return serializer.Marshal(p, f.Media)
	}
	obj, err := f.Endpoint.Convert(obj)
	if err != nil {
		return nil, err
	}
	if f.bareType() {
		obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		defer obj.GetObjectKind().SetGroupVersionKind(f.Endpoint.ServedGVK)
	}
	return serializer.Marshal(obj, f.Media)
}

// Partial returns the object's metadata alone.
func (f *Representation) Partial(obj runtime.Object) (*metav1.PartialObjectMetadata, error) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	p := meta.AsPartialObjectMetadata(m)
	p.Kind, p.APIVersion = "PartialObjectMetadata", f.MetaAPIVersion()
	return p, nil
}

// Kind returns the kind of a body around one element.
func (f *Representation) Kind() schema.GroupVersionKind {
	if f.Shape == request.AsObject {
		return f.Endpoint.ServedGVK
	}
	return schema.GroupVersionKind{Group: metav1.GroupName, Version: f.MetaVersion, Kind: "PartialObjectMetadata"}
}

// Body returns the response body around one element.
func (f *Representation) Body(element []byte, rev string) ([]byte, error) {
	switch {
	case f.Media == serializer.Protobuf:
		return serializer.AppendEnvelope(nil, f.Kind(), element), nil
	case f.Media == serializer.CBOR:
		return f.AddType(append(serializer.CBORTag(), element...), len(serializer.CBORTag())), nil
	case f.Shape == request.AsTable:
		b := f.AppendTableHead(nil, ListMeta{ResourceVersion: rev}, true)
		return serializer.FinishJSON(append(append(b, element...), "]}"...), f.Media, f.Pretty)
	}
	return serializer.FinishJSON(element, f.Media, f.Pretty)
}

// appendItem appends an element as an item of a list.
func (f *Representation) appendItem(dst []byte, element []byte) []byte {
	if f.Media == serializer.Protobuf {
		dst = protowire.AppendTag(dst, 2, protowire.BytesType)
		return protowire.AppendBytes(dst, element)
	}
	return append(dst, element...)
}

// CheckShape refuses the shape of an object for a list, and that of a list for an object.
func (f *Representation) CheckShape(list bool) error {
	switch {
	case list && f.Shape == request.AsPartial:
		return f.notThat("you requested PartialObjectMetadata, but the requested object is a list (*%s.%s)", f.Endpoint.ListKind())
	case !list && f.Shape == request.AsPartialList:
		return f.notThat("you requested PartialObjectMetadataList, but the requested object is not a list (*%s.%s)", f.Endpoint.Kind)
	}
	return nil
}

// notThat returns such an error. It names the kind as kube-apiserver's Go type is named: by
// the first word of its group, and core for the oldest groups.
func (f *Representation) notThat(format, kind string) error {
	family, _, _ := strings.Cut(f.Endpoint.ServedGVK.Group, ".")
	if family == "" || f.Endpoint.ServedGVK.Group == "events.k8s.io" {
		family = "core"
	}
	return apistatus.New(406, metav1.StatusReasonNotAcceptable, fmt.Sprintf(format, family, kind))
}

// New returns the representation of an endpoint's objects in a negotiated format. The query
// may select the part of the object in the rows of a table (includeObject).
func New(ctx context.Context, ep *endpoint.Endpoint, format request.ResponseFormat, query url.Values) (*Representation, error) {
	f := &Representation{Endpoint: ep, ResponseFormat: format, Context: ctx}
	if f.Shape == request.AsTable {
		opts := metav1.TableOptions{}
		if err := request.DecodeOptions(query, &opts); err != nil {
			return nil, err
		}
		if f.include = opts.IncludeObject; f.include == "" {
			f.include = metav1.IncludeMetadata
		}
		if err := checkInclude(f.include); err != nil {
			return nil, err
		}
	}
	if f.Shape == request.AsObject && f.Media.IsText() {
		f.id = ep.TextForm
		return f, nil
	}
	f.message = f.messageType()
	f.id = watchcache.Encoding(fmt.Sprint(ep.TextForm, ep.ServedGVK.Group, "/", ep.ServedGVK.Version, " ", f.elements(), " ", f.Shape, f.MetaVersion, f.include))
	return f, nil
}
