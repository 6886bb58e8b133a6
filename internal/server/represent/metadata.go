package represent

import (
	"fairlead.dev/internal/codec/jsonscan"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// storedMetadata reports whether the object's element is its metadata as stored. Then nothing
// is decoded, and the element is not kept. A conversion may change the metadata of a custom
// object.
func (f *Representation) storedMetadata(o *watchcache.Object) bool {
	return (f.Shape == request.AsPartial || f.Shape == request.AsPartialList) && f.Media.IsText() &&
		(f.Endpoint.SharedMetadata || f.Endpoint.Raw && f.Endpoint.Current(o))
}

// appendMetadata appends such an element, with the resourceVersion rev.
func (f *Representation) appendMetadata(dst []byte, o *watchcache.Object, rev storage.Revision) []byte {
	box := Buffers.Get().(*[]byte)
	text := o.AppendJSONAt((*box)[:0], rev)
	dst = append(dst, `{"kind":"PartialObjectMetadata","apiVersion":"`...)
	dst = append(append(dst, f.MetaAPIVersion()...), `","metadata":`...)
	dst = append(append(dst, jsonscan.Find(text, "metadata")...), '}')
	ReleaseBuffer(box, text)
	return dst
}
