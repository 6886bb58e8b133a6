package represent

import (
	"context"
	"fmt"
	"io"
	"iter"

	"google.golang.org/protobuf/encoding/protowire"

	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/serializer"
	"fairlead.dev/watchcache"
)

// Walk is the position in a list: in the objects of a page, or in a snapshot.
type Walk struct {
	// Whole: Objects are the list. Otherwise Rest is.
	Whole   bool
	Objects []*watchcache.Object
	Rest    watchcache.Walk
}

// WalkOf returns the walk over objects that are all in memory.
func WalkOf(objects []*watchcache.Object) Walk { return Walk{Whole: true, Objects: objects} }

// Err returns why the walk has stopped before the end, nil if it has not.
func (w *Walk) Err() error {
	if w.Rest.Stopped() {
		return context.DeadlineExceeded
	}
	return nil
}

// next returns the next object, nil at the end.
func (w *Walk) next() *watchcache.Object {
	switch {
	case !w.Whole:
		return w.Rest.Next()
	case len(w.Objects) == 0:
		return nil
	}
	o := w.Objects[0]
	w.Objects = w.Objects[1:]
	return o
}

// Items yields the objects that are left. Objects that have been yielded are gone from the
// walk.
func (w *Walk) Items() iter.Seq[*watchcache.Object] {
	return func(yield func(*watchcache.Object) bool) {
		for o := w.next(); o != nil && yield(o); o = w.next() {
		}
	}
}

// ListWriter writes a list piece by piece: it is a position in a snapshot and a
// representation. Over HTTP/2 the connection asks for a piece when it has room for one, so a
// thousand lists that clients read slowly hold neither goroutines nor buffers.
type ListWriter struct {
	Representation *Representation
	Walk
	begun bool
	// left is the number of bytes to come of the items of a protobuf list.
	left int
	// item is the memory for an item of an indented list before it is indented.
	item []byte
}

// Head appends the head of the list, up to the items.
func (l *ListWriter) Head(dst []byte, m ListMeta) ([]byte, error) {
	switch l.Representation.Media {
	case serializer.Protobuf:
		return l.protoHead(dst, m)
	case serializer.CBOR:
		return l.cborHead(dst, m), nil
	}
	if l.Representation.Pretty {
		return l.indentedHead(dst, m)
	}
	return l.Representation.AppendListHead(dst, m), nil
}

// Next appends about limit bytes of items and, behind the last item, the end of the list. more
// reports whether there is more to come.
func (l *ListWriter) Next(dst []byte, limit int) (_ []byte, more bool, err error) {
	full := len(dst) + limit
	for o := l.Walk.next(); o != nil; o = l.Walk.next() {
		if dst, err = l.appendItem(dst, o); err != nil {
			return dst, false, err
		}
		if len(dst) >= full {
			return dst, true, nil
		}
	}
	if err := l.Walk.Err(); err != nil {
		return dst, false, err
	}
	switch {
	case l.Representation.Media == serializer.Protobuf && l.left != 0:
		return dst, false, fmt.Errorf("%s: a list's length is off by %d", l.Representation.Endpoint.ServedGR, l.left)
	case l.Representation.Media == serializer.Protobuf:
		return serializer.AppendEnvelopeTail(dst), false, nil
	case l.Representation.Media == serializer.CBOR:
		return dst, false, nil
	}
	return l.jsonEnd(dst), false, nil
}

func (l *ListWriter) appendItem(dst []byte, o *watchcache.Object) ([]byte, error) {
	if l.Representation.Media.IsText() {
		if l.begun {
			dst = append(dst, ',')
		}
		l.begun = true
		if l.Representation.Pretty {
			return l.indentedItem(dst, o)
		}
		return l.Representation.appendListElement(dst, o)
	}
	if l.Representation.Media == serializer.CBOR {
		e, err := l.Representation.element(o)
		return append(dst, e...), err
	}
	err := l.Representation.withMessage(o, func(message []byte) error {
		if l.left -= 1 + protowire.SizeBytes(len(message)); l.left < 0 {
			return fmt.Errorf("%s: an encoding differs from time to time", o.Key())
		}
		dst = l.Representation.appendItem(dst, message)
		return nil
	})
	return dst, err
}

// WriteTo writes b and then the rest of the list.
func (l *ListWriter) WriteTo(w io.Writer, b []byte) (err error) {
	for more := true; ; {
		if _, err = w.Write(b); err != nil || !more {
			return err
		}
		if b, more, err = l.Next(b[:0], ChunkSize); err != nil {
			return err
		}
	}
}

// AppendListHead appends the head of a JSON list, up to the items.
func (f *Representation) AppendListHead(dst []byte, m ListMeta) []byte {
	switch f.Shape {
	case request.AsTable:
		return f.AppendTableHead(dst, m, true)
	case request.AsPartialList:
		dst = append(dst, `{"kind":"PartialObjectMetadataList","apiVersion":"`+f.MetaAPIVersion()+`","metadata":`...)
	default:
		dst = append(dst, f.Endpoint.ListHead...)
	}
	m.ends = f.Endpoint.EmptyContinue && f.Shape == request.AsObject
	return append(m.appendJSON(dst), `,"items":[`...)
}

// appendListElement appends an element without its kind and version, which follow from those
// of the list.
func (f *Representation) appendListElement(dst []byte, o *watchcache.Object) ([]byte, error) {
	n := len(dst)
	dst, err := f.AppendElement(dst, o)
	if err != nil || f.Shape != request.AsObject {
		return dst, err
	}
	// The conversion in a comparison does not allocate.
	if p := f.Endpoint.TypePrefix; len(dst) >= n+len(p) && string(dst[n:n+len(p)]) == p {
		dst = append(dst[:n+1], dst[n+len(p):]...)
	}
	return dst, nil
}
