package server

import (
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/scan"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// cuts says that the form's element of an object is its metadata as they are stored, so
// that nothing has to be decoded for it, nor kept. A conversion may change the metadata
// of a custom object.
func (f *form) cuts(o *watchcache.Object) bool {
	return (f.Shape == request.AsPartial || f.Shape == request.AsPartialList) && f.Media.IsText() &&
		(f.ep.SharedMetadata || f.ep.Raw && f.ep.Current(o))
}

// appendMetadata appends such an element, as of a revision.
func (f *form) appendMetadata(dst []byte, o *watchcache.Object, rev storage.Revision) []byte {
	box := chunkBuffers.Get().(*[]byte)
	text := o.AppendJSONAt((*box)[:0], rev)
	dst = append(dst, `{"kind":"PartialObjectMetadata","apiVersion":"`...)
	dst = append(append(dst, f.MetaAPIVersion()...), `","metadata":`...)
	dst = append(append(dst, scan.Find(text, "metadata")...), '}')
	giveChunk(box, text)
	return dst
}
