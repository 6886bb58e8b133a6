package client

import (
	"bytes"
	"reflect"
	"sync"

	"fairlead.dev/internal/codec/intern"
	"fairlead.dev/internal/rawmem"
)

// sharedObjects has the objects of the readers of this process that share them (Options.ShareObjects), by sharedKey.
var sharedObjects sync.Map // sharedKey -> *intern.Objects

// sharedKey is the way in which objects are decoded.
type sharedKey struct {
	elem      reflect.Type
	unmanaged bool
}

// sharing gives readers of one type the objects that others have decoded from the same bytes. A nil sharing shares nothing.
type sharing[T Object] struct {
	elem    reflect.Type
	objects *intern.Objects
}

func newSharing[T Object](elem reflect.Type, unmanaged bool) *sharing[T] {
	objects, _ := sharedObjects.LoadOrStore(sharedKey{elem, unmanaged}, &intern.Objects{})
	return &sharing[T]{elem, objects.(*intern.Objects)}
}

// decode returns the object that was decoded from b, or decodes it.
func (s *sharing[T]) decode(b []byte, decode func([]byte) (T, error)) (T, error) {
	if s == nil {
		return decode(b)
	}
	d := intern.DigestOf(withoutNewline(b))
	if p := s.objects.Find(d); !p.IsNil() {
		return s.object(p), nil
	}
	obj, err := decode(b)
	if err != nil {
		return obj, err
	}
	return s.object(s.objects.Keep(d, rawmem.Of(reflect.ValueOf(obj)))), nil
}

// withoutNewline removes the end of line that an answer in JSON has, and an object in a watch has not.
func withoutNewline(b []byte) []byte {
	if len(b) > 0 && b[0] == '{' {
		return bytes.TrimSuffix(b, []byte("\n"))
	}
	return b
}

func (s *sharing[T]) object(p rawmem.Pointer) T { return p.Interface(s.elem).(T) }
