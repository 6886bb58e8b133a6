package server

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/fastjson"
	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/codec"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// form is how the objects of an endpoint are written for a client: version,
// shape and encoding together.
//
// The unit is an element: an object's JSON text, its protobuf message without
// envelope, its CBOR map without kind and version, or its table row. Bodies, lists and watch frames are wrapped
// around elements, which are kept with the object for the next reader.
type form struct {
	ep *endpoint.Endpoint
	request.ResponseFormat
	include metav1.IncludeObjectPolicy // what a table row carries
	id      watchcache.Encoding
	// message is the Go type whose protobuf message an element is; nil if it is
	// none, or has to be made of an object that was converted.
	message reflect.Type
	// ctx is the request's, as long as there is somebody who waits for it.
	ctx context.Context
	// texts are the objects that have been converted ahead, as JSON.
	texts map[*watchcache.Object][]byte
}

// form is the one this call's answers take.
func (c *call) form() (*form, error) {
	f := &form{ep: c.ep, ResponseFormat: c.accept, ctx: c.ctx}
	if f.Shape == request.AsTable {
		opts := metav1.TableOptions{}
		if err := c.options(&opts); err != nil {
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
		f.id = c.ep.TextForm
		return f, nil
	}
	f.message = f.messageType()
	f.id = watchcache.Encoding(fmt.Sprint(c.ep.TextForm, c.ep.ServedGVK.Group, "/", c.ep.ServedGVK.Version, " ", f.elements(), " ", f.Shape, f.MetaVersion, f.include))
	return f, nil
}

// stored says that stored bytes are elements as they are, those of custom
// objects if they follow the kind's definition.
func (f *form) stored() bool { return f.ep.Raw && f.Shape == request.AsObject && f.Media.IsText() }

// elements is the encoding of the form's elements.
func (f *form) elements() codec.MediaType {
	if f.Media.IsText() {
		return codec.JSON
	}
	return f.Media
}

// appendElement appends the object's element.
func (f *form) appendElement(dst []byte, o *watchcache.Object) ([]byte, error) {
	if f.stored() {
		return f.ep.AppendStored(f.ctx, dst, o)
	}
	if f.cuts(o) {
		return f.appendMetadata(dst, o, o.Revision()), nil
	}
	e, err := f.element(o)
	return append(dst, e...), err
}

// element is the object's element. Rows tell ages, so they are not kept.
func (f *form) element(o *watchcache.Object) ([]byte, error) {
	if f.Shape == request.AsTable {
		return f.build(o, o.Revision())
	}
	return endpoint.FormOf(f.ctx, o, f.id, f.buildForm)
}

func (f *form) buildForm(o *watchcache.Object) ([]byte, error) { return f.build(o, o.Revision()) }

// eventElement is the element of an event, shared by all who watch.
func (f *form) appendEventElement(dst []byte, e watchcache.Event) ([]byte, error) {
	switch {
	case f.stored() && f.ep.Current(e.Object):
		return e.AppendObject(dst), nil
	case f.Shape != request.AsTable && e.Revision == e.Object.Revision():
		return f.appendElement(dst, e.Object) // the object as lists show it
	case f.cuts(e.Object):
		return f.appendMetadata(dst, e.Object, e.Revision), nil
	}
	b, err := e.Encoding(f.id, func(e watchcache.Event) ([]byte, error) { return f.build(e.Object, e.Revision) })
	return append(dst, b...), err
}

// messageType is form.message.
func (f *form) messageType() reflect.Type {
	switch {
	case f.Media != codec.Protobuf || f.ep.GoType == nil:
		return nil
	case f.Shape == request.AsObject:
		return f.ep.GoType
	case f.Shape == request.AsPartial || f.Shape == request.AsPartialList:
		return reflect.TypeFor[metav1.PartialObjectMetadata]()
	}
	return nil
}

// build makes an element. The message of stored bytes needs no Go object: it is the
// same bytes without (see fastjson.Transcode), at a quarter of the cost.
func (f *form) build(o *watchcache.Object, rev storage.Revision) ([]byte, error) {
	if f.message != nil {
		box := chunkBuffers.Get().(*[]byte)
		text := o.AppendJSONAt((*box)[:0], rev)
		message, ok := fastjson.Transcode(text, f.message)
		giveChunk(box, text)
		if ok {
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
	return f.encode(obj)
}

// decode makes the object, of what has been converted ahead if it has.
func (f *form) decode(o *watchcache.Object) (runtime.Object, error) {
	text := f.texts[o]
	if text == nil {
		return f.ep.Decode(f.ctx, o.Value(), o.Revision())
	}
	u, err := endpoint.DecodeUntyped(text)
	if err != nil {
		return nil, err
	}
	return resource.NewUntyped(u), nil
}

// encode makes the element of an object of the storage version.
func (f *form) encode(obj runtime.Object) ([]byte, error) {
	switch f.Shape {
	case request.AsTable:
		return f.row(obj)
	case request.AsPartial, request.AsPartialList:
		p, err := f.partial(obj)
		if err != nil {
			return nil, err
		}
		return codec.Marshal(p, f.Media)
	}
	obj, err := f.ep.Convert(obj)
	if err != nil {
		return nil, err
	}
	if f.untyped() {
		obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		defer obj.GetObjectKind().SetGroupVersionKind(f.ep.ServedGVK)
	}
	return codec.Marshal(obj, f.Media)
}

// partial keeps only the metadata of an object.
func (f *form) partial(obj runtime.Object) (*metav1.PartialObjectMetadata, error) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	p := meta.AsPartialObjectMetadata(m)
	p.Kind, p.APIVersion = "PartialObjectMetadata", f.MetaAPIVersion()
	return p, nil
}

// kind is what a body around one element calls itself.
func (f *form) kind() schema.GroupVersionKind {
	if f.Shape == request.AsObject {
		return f.ep.ServedGVK
	}
	return schema.GroupVersionKind{Group: metav1.GroupName, Version: f.MetaVersion, Kind: "PartialObjectMetadata"}
}

// body wraps one element as an answer.
func (f *form) body(element []byte, rev string) ([]byte, error) {
	switch {
	case f.Media == codec.Protobuf:
		return codec.AppendEnvelope(nil, f.kind(), element), nil
	case f.Media == codec.CBOR:
		return f.typed(append(codec.CBORTag(), element...), len(codec.CBORTag())), nil
	case f.Shape == request.AsTable:
		b := f.appendTableHead(nil, listMeta{ResourceVersion: rev}, true)
		return codec.FinishJSON(append(append(b, element...), "]}"...), f.Media, f.Pretty)
	}
	return codec.FinishJSON(element, f.Media, f.Pretty)
}

// appendItem appends an element as an item of a list body.
func (f *form) appendItem(dst []byte, element []byte) []byte {
	if f.Media == codec.Protobuf {
		dst = protowire.AppendTag(dst, 2, protowire.BytesType)
		return protowire.AppendBytes(dst, element)
	}
	return append(dst, element...)
}

// refuseShape says no to a list asked for as an object and the other way.
func (f *form) refuseShape(list bool) error {
	switch {
	case list && f.Shape == request.AsPartial:
		return f.notThat("you requested PartialObjectMetadata, but the requested object is a list (*%s.%s)", f.ep.ListKind())
	case !list && f.Shape == request.AsPartialList:
		return f.notThat("you requested PartialObjectMetadataList, but the requested object is not a list (*%s.%s)", f.ep.Kind)
	}
	return nil
}

// notThat names a kind as kube-apiserver's own type is named, since clients see
// that in the message: by the first word of its group, but for the oldest ones.
func (f *form) notThat(format, kind string) error {
	family, _, _ := strings.Cut(f.ep.ServedGVK.Group, ".")
	if family == "" || f.ep.ServedGVK.Group == "events.k8s.io" {
		family = "core"
	}
	return apistatus.New(406, metav1.StatusReasonNotAcceptable, fmt.Sprintf(format, family, kind))
}
