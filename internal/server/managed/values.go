package managed

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/codec/fastjson"
	"fairlead.dev/internal/server/openapi"
)

// UpdateValues is Update for objects given as Go structs. was and is point to structs of one type, described by
// Shape; Old and New are ignored. Most writes need to encode only their changes this way. ok is false if the
// structs cannot be encoded.
func (w *Write) UpdateValues(was, is any, entries []metav1.ManagedFieldsEntry) (after []metav1.ManagedFieldsEntry, ok bool) {
	if len(entries) == 0 && !w.Create {
		return nil, true
	}
	own, ok := changesOf(was, is, w.Shape, w.Filter)
	if !ok {
		return nil, false
	}
	return w.update(own, entries), true
}

// changesOf is changes for two structs.
func changesOf(was, is any, s *openapi.Shape, only Filter) (root *node, ok bool) {
	root = &node{}
	room := buffers.Get().(*[]byte)
	defer buffers.Put(room)
	d := differ{room: *room}
	ok = fastjson.Pairs(was, is, func(name string, p fastjson.Pair) {
		switch {
		case name == "kind" || name == "apiVersion" || only.drops(name):
		case name == "metadata":
			m, shape := root.add("f:metadata"), shapeIn(s, []byte(name))
			d.failed = !p.Pairs(func(name string, p fastjson.Pair) {
				if !notManaged[name] {
					d.member(m, name, p, shape)
				}
			}) || d.failed
			root.dropEmpty()
		default:
			d.member(root, name, p, s)
		}
	})
	if *room = d.room[:0]; cap(d.room) > maxBuffer {
		*room = nil
	}
	root.sort()
	only.apply(root)
	return root, ok && !d.failed
}

// buffers holds scratch memory for differs, of up to maxBuffer bytes each.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const maxBuffer = 64 << 10

// differ compares structs. It encodes the members that it does not look into.
type differ struct {
	room   []byte
	failed bool
}

func (d *differ) member(n *node, name string, p fastjson.Pair, s *openapi.Shape) {
	if p.Equal() {
		return
	}
	f, ok := s.Fields[name]
	if !ok {
		f = openapi.ShapeField{Element: "f:" + name, Shape: shapeIn(s, []byte(name))}
	}
	if f.Shape == nil {
		return // a field unknown to the type has no owner
	}
	k := n.add(f.Element)
	both := f.Shape.Kind == openapi.Object && p.Pairs(func(name string, p fastjson.Pair) { d.member(k, name, p, f.Shape) })
	if !both && !d.addMember(k, p, f.Shape) {
		old, new, room, ok := p.Texts(d.room[:0])
		d.room = room
		if d.failed = d.failed || !ok; ok {
			k.compare(old, new, f.Shape)
		}
	}
	n.dropEmpty()
}
