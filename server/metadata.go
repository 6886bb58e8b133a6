package server

import (
	"fairlead.dev/internal/server/scan"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// cuts says that the form's element of an object is its metadata as they are stored, so
// that nothing has to be decoded for it, nor kept. A conversion may change the metadata
// of a custom object.
func (f *form) cuts(o *watchcache.Object) bool {
	return (f.shape == asPartial || f.shape == asPartialList) && f.media.IsText() &&
		(f.ep.sharedMetadata || f.ep.raw && f.ep.current(o))
}

// appendMetadata appends such an element, as of a revision.
func (f *form) appendMetadata(dst []byte, o *watchcache.Object, rev storage.Revision) []byte {
	box := chunkBuffers.Get().(*[]byte)
	text := o.AppendJSONAt((*box)[:0], rev)
	dst = append(dst, `{"kind":"PartialObjectMetadata","apiVersion":"`...)
	dst = append(append(dst, f.metaAPIVersion()...), `","metadata":`...)
	dst = append(append(dst, scan.Find(text, "metadata")...), '}')
	giveChunk(box, text)
	return dst
}
