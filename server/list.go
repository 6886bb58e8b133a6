package server

import (
	"iter"
	"net/http"
	"strings"

	"fairlead.dev/watchcache"
)

// list answers with the objects of one snapshot, written while it is walked.
func list(c *call) error {
	opts, err := c.listOptions()
	if err != nil {
		return err
	}
	sel, err := c.selection(opts)
	if err != nil {
		return err
	}
	f, err := c.form()
	if err != nil {
		return err
	}
	if err := f.refuseShape(true); err != nil {
		return err
	}
	p, err := c.openPage(sel, opts)
	if err != nil {
		return err
	}
	meta := listMeta{ResourceVersion: p.snap.Revision().String()}
	items := p.snap.List(sel, p.after, 0)
	if p.limit > 0 {
		items = p.cut(sel, &meta)
	}
	return c.writeList(f, meta, items)
}

// writeList writes the list in the encoding of the form.
func (c *call) writeList(f *form, m listMeta, items iter.Seq[*watchcache.Object]) error {
	c.w.Header().Set("Content-Type", f.media.String())
	switch {
	case f.media == mediaProto:
		return c.writeProtoList(f, m, items)
	case f.media == mediaCBOR:
		return c.writeCBORList(f, m, items)
	case f.media == mediaYAML || f.pretty:
		data, err := f.appendList(nil, m, items)
		if err == nil {
			data, err = finishJSON(data, f.accept)
		}
		if err != nil {
			return err
		}
		return c.writeBytes(http.StatusOK, f.media.String(), data)
	}
	out := c.startChunks(items)
	defer out.release()
	out.buf = f.appendListHead(out.buf, m)
	first := true
	for o := range items {
		if !first {
			out.buf = append(out.buf, ',')
		}
		first = false
		var err error
		if out.buf, err = f.appendListElement(out.buf, o); err != nil {
			return err
		}
		if err = out.spill(); err != nil {
			return err
		}
	}
	if first && f.shape == asPartialList {
		out.buf = append(out.buf[:len(out.buf)-1], "null}\n"...)
	} else {
		out.buf = append(out.buf, "]}\n"...)
	}
	return out.end()
}

// appendList appends the whole list; for the forms that need it in one piece.
func (f *form) appendList(dst []byte, m listMeta, items iter.Seq[*watchcache.Object]) (_ []byte, err error) {
	dst = f.appendListHead(dst, m)
	first := true
	for o := range items {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		if dst, err = f.appendListElement(dst, o); err != nil {
			return nil, err
		}
	}
	if first && f.shape == asPartialList {
		return append(dst[:len(dst)-1], "null}"...), nil
	}
	return append(dst, "]}"...), nil
}

func (f *form) appendListHead(dst []byte, m listMeta) []byte {
	switch f.shape {
	case asTable:
		return f.appendTableHead(dst, m, true)
	case asPartialList:
		dst = append(dst, `{"kind":"PartialObjectMetadataList","apiVersion":"`+f.metaAPIVersion()+`","metadata":`...)
	default:
		dst = append(dst, f.ep.listHead...)
	}
	m.ends = f.ep.Custom != nil && f.shape == asObject
	return append(m.appendJSON(dst), `,"items":[`...)
}

// appendListElement appends an element without the kind that the list's kind
// says already.
func (f *form) appendListElement(dst []byte, o *watchcache.Object) ([]byte, error) {
	n := len(dst)
	dst, err := f.appendElement(dst, o)
	if err != nil || f.shape != asObject {
		return dst, err
	}
	if p := f.ep.typePrefix; strings.HasPrefix(string(dst[n:min(n+len(p), len(dst))]), p) {
		dst = append(dst[:n+1], dst[n+len(p):]...)
	}
	return dst, nil
}
