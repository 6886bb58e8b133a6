package client

import (
	"errors"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"google.golang.org/protobuf/encoding/protowire"

	"fairlead.dev/internal/codec"
)

// List is one page of objects, and where the next one begins (Continue).
type List[T Object] struct {
	metav1.ListMeta
	Items []T
}

// objectCodec turns objects of one type into bytes and back.
type objectCodec[T Object] struct {
	elem reflect.Type // T without its pointer
	gvk  schema.GroupVersionKind
	kind metav1.TypeMeta // set in every decoded object; empty for unstructured
	form encoding        // preferred
	// The Accept headers for one object, a list, a stream.
	accept, acceptList, acceptWatch string
	interning                       *codec.Decoder // nil: each object is its reader's own
	known                           func(namespace, name []byte) (T, bool)
	unmanaged                       bool // objects that come back have no managedFields
	shared                          *sharing[T]
}

func newCodec[T Object](prefer encoding, gvk schema.GroupVersionKind, partial bool) *objectCodec[T] {
	c := &objectCodec[T]{elem: reflect.TypeFor[T]().Elem(), gvk: gvk}
	c.kind.APIVersion, c.kind.Kind = gvk.ToAPIVersionAndKind()
	c.form = prefer
	if _, able := any(c.new()).(protoObject); prefer == inProtobuf && !able {
		c.form = inJSON
	}
	as := func(base, kind string) string {
		if partial {
			return base + ";as=" + kind + ";g=meta.k8s.io;v=v1"
		}
		return base
	}
	offer := func(stream, kind string) string {
		accept := as(ContentTypeJSON, kind)
		switch c.form {
		case inProtobuf:
			accept = as(ContentTypeProtobuf+stream, kind) + "," + accept
		case inCBOR:
			accept = as(ContentTypeCBOR, kind) + "," + accept
		}
		if partial { // a server that cannot narrow objects sends them whole
			accept += "," + ContentTypeJSON
		}
		return accept
	}
	c.accept = offer("", "PartialObjectMetadata")
	c.acceptList = offer("", "PartialObjectMetadataList")
	c.acceptWatch = offer(";stream=watch", "PartialObjectMetadata")
	return c
}

func (c *objectCodec[T]) new() T { return reflect.New(c.elem).Interface().(T) }

// stamp sets the kind, which servers leave out of lists and protobuf.
func (c *objectCodec[T]) stamp(obj T) T {
	if c.kind.Kind != "" {
		obj.GetObjectKind().SetGroupVersionKind(c.gvk)
	}
	return obj
}

// encode returns obj with its kind, and the content type, which is as or simpler.
func (c *objectCodec[T]) encode(obj T, as encoding) ([]byte, string, error) {
	if u, ok := any(obj).(*unstructured.Unstructured); ok && as == inCBOR {
		return encodeCBOR(u.Object)
	}
	if c.kind.Kind == "" {
		b, err := encodeJSON(obj)
		return b, ContentTypeJSON, err
	}
	if obj.GetObjectKind().GroupVersionKind() != c.gvk {
		v := reflect.New(c.elem)
		v.Elem().Set(reflect.ValueOf(obj).Elem()) // shallow: the caller's object stays as it is
		obj = c.stamp(v.Interface().(T))
	}
	switch as {
	case inProtobuf:
		b, err := joinProto(c.kind, any(obj).(protoObject))
		return b, ContentTypeProtobuf, err
	case inCBOR:
		return encodeCBOR(obj)
	}
	b, err := encodeJSON(obj)
	return b, ContentTypeJSON, err
}

// encodeJSON returns encoding/json's result for v, faster if v is of a known type.
func encodeJSON(v any) ([]byte, error) {
	if u, ok := v.(*unstructured.Unstructured); ok && u != nil {
		return codec.MarshalUntyped(u.Object)
	}
	return codec.MarshalJSON(v)
}

// decode reads one object; it keeps no reference to b.
func (c *objectCodec[T]) decode(b []byte) (T, error) { return c.shared.decode(b, c.decodeNew) }

// decodeNew reads one object that no other reader has.
func (c *objectCodec[T]) decodeNew(b []byte) (obj T, err error) {
	if raw, ok := splitProto(b); ok {
		obj, err = c.decodeProto(raw)
	} else if obj = c.new(); isCBOR(b) {
		err = decodeCBOR(b, obj)
	} else if u, ok := any(obj).(*unstructured.Unstructured); ok {
		err = u.UnmarshalJSON(b)
	} else {
		err = c.interning.JSON(b, obj, c.unmanaged)
	}
	if err != nil {
		var none T
		return none, fmt.Errorf("client: decoding %v: %w", c.elem, err)
	}
	return c.finish(obj), nil
}

// finish completes a decoded object: its kind, and the fields that the reader does not
// want.
func (c *objectCodec[T]) finish(obj T) T {
	if c.unmanaged {
		obj.SetManagedFields(nil)
	}
	return c.stamp(obj)
}

// decodeHead reads of one object which one it is. In JSON, no more is looked at; in other
// forms, and of objects that have their kind with them, all is decoded.
func (c *objectCodec[T]) decodeHead(b []byte) (T, error) {
	h, ok := codec.IdentityOf(b)
	if !ok || c.kind.Kind == "" {
		return c.decode(b)
	}
	return c.headed(h), nil
}

// headed is an object of which only the head is known.
func (c *objectCodec[T]) headed(h codec.Identity) T {
	obj := c.new()
	obj.SetName(h.Name)
	obj.SetNamespace(h.Namespace)
	obj.SetUID(types.UID(h.UID))
	obj.SetResourceVersion(h.ResourceVersion)
	return c.stamp(obj)
}

func (c *objectCodec[T]) decodeProto(raw []byte) (T, error) {
	obj := c.new()
	m, able := any(obj).(protoObject)
	if !able {
		return obj, errors.New("the server sent protobuf")
	}
	var was codec.Message
	if c.known != nil {
		if known, ok := c.known(codec.Names(raw)); ok {
			was = any(known).(protoObject)
		}
	}
	return obj, c.interning.Protobuf(raw, m, was)
}

// decodeList reads a list; it keeps no reference to b.
func (c *objectCodec[T]) decodeList(b []byte) (l List[T], err error) {
	if raw, ok := splitProto(b); ok {
		err = c.decodeProtoList(raw, &l)
		return l, err
	}
	if isCBOR(b) {
		err = c.decodeCBORList(b, &l)
		return l, err
	}
	if c.kind.Kind == "" {
		var ul unstructured.UnstructuredList
		if err := ul.UnmarshalJSON(b); err != nil {
			return l, err
		}
		l.ResourceVersion, l.Continue, l.RemainingItemCount = ul.GetResourceVersion(), ul.GetContinue(), ul.GetRemainingItemCount()
		l.Items = make([]T, len(ul.Items))
		for i := range ul.Items {
			l.Items[i] = c.finish(any(&unstructured.Unstructured{Object: ul.Items[i].Object}).(T))
		}
		return l, nil
	}
	var w struct {
		Metadata metav1.ListMeta `json:"metadata"`
		Items    []T             `json:"items" share:"no"` // each is stamped, and belongs to one list
	}
	if err := c.interning.JSON(b, &w, c.unmanaged); err != nil {
		return l, fmt.Errorf("client: decoding a list of %v: %w", c.elem, err)
	}
	for _, obj := range w.Items {
		c.finish(obj)
	}
	return List[T]{ListMeta: w.Metadata, Items: w.Items}, nil
}

// decodeProtoList reads the common layout of Kubernetes' lists in protobuf: field 1 is the
// metadata, field 2 each item. So items are allocated one by one, and an item that stays in
// use does not keep the others.
func (c *objectCodec[T]) decodeProtoList(raw []byte, l *List[T]) error {
	return eachField(raw, func(f protowire.Number, v []byte) error {
		switch f {
		case 1:
			return l.ListMeta.Unmarshal(v)
		case 2:
			obj, err := c.decodeProto(v)
			if err != nil {
				return fmt.Errorf("client: decoding %v: %w", c.elem, err)
			}
			l.Items = append(l.Items, c.finish(obj))
		}
		return nil
	})
}
