package server

import (
	"iter"
	"net/http"
	"slices"
	"strings"

	"fairlead.dev/internal/server/codec"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/watchcache"
)

// list answers with the objects of one snapshot, written while it is walked. What
// is long is not written by the handler: see listing.
func list(c *call) error {
	opts, err := c.listOptions()
	if err != nil {
		return err
	}
	sel, pick, err := c.selection(opts)
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
	w := walk{}
	if w.rest, err = p.snap.Walk(sel, p.after); err != nil {
		return err
	}
	ctx := c.ctx
	w.rest.EndWhen(func() bool { return ctx.Err() != nil })
	switch {
	case pick != nil:
		w.whole = true
		if w.objects, err = c.pickedPage(f, pick, p, sel, &meta); err != nil {
			return err
		}
	case p.limit > 0:
		w.objects, w.whole = p.cut(&w.rest, sel, &meta), true
	}
	if c.ep.AsksWebhook && pick == nil {
		w.objects, w.whole = slices.Collect(w.items()), true
		if err := w.err(); err != nil {
			return err
		}
		if err := c.convertAhead(f, w.objects); err != nil {
			return err
		}
	}
	return c.writeList(f, meta, w)
}

// writeList writes the list in the encoding of the form.
func (c *call) writeList(f *form, m listMeta, w walk) error {
	if f.Media == codec.YAML || f.Pretty {
		data, err := f.appendList(nil, m, w.items())
		if err == nil {
			err = w.err()
		}
		if err == nil {
			data, err = codec.FinishJSON(data, f.Media, f.Pretty)
		}
		if err != nil {
			return err
		}
		return c.writeBytes(http.StatusOK, f.Media.String(), data)
	}
	l := &listing{f: f, walk: w}
	box := chunkBuffers.Get().(*[]byte)
	b, err := l.head((*box)[:0], m)
	if err != nil {
		giveChunk(box, b)
		return err
	}
	more := false
	if b, more, err = l.next(b, chunkSize); err != nil || !more {
		defer func() { giveChunk(box, b) }()
		if err == nil {
			err = c.writeBytes(http.StatusOK, f.Media.String(), b)
		}
		return err
	}
	err = c.begin(l, w, b)
	giveChunk(box, b)
	return err
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
	if first && f.Shape == request.AsPartialList {
		return append(dst[:len(dst)-1], "null}"...), nil
	}
	return append(dst, "]}"...), nil
}

func (f *form) appendListHead(dst []byte, m listMeta) []byte {
	switch f.Shape {
	case request.AsTable:
		return f.appendTableHead(dst, m, true)
	case request.AsPartialList:
		dst = append(dst, `{"kind":"PartialObjectMetadataList","apiVersion":"`+f.MetaAPIVersion()+`","metadata":`...)
	default:
		dst = append(dst, f.ep.ListHead...)
	}
	m.ends = f.ep.EmptyContinue && f.Shape == request.AsObject
	return append(m.appendJSON(dst), `,"items":[`...)
}

// appendListElement appends an element without the kind that the list's kind
// says already.
func (f *form) appendListElement(dst []byte, o *watchcache.Object) ([]byte, error) {
	n := len(dst)
	dst, err := f.appendElement(dst, o)
	if err != nil || f.Shape != request.AsObject {
		return dst, err
	}
	if p := f.ep.TypePrefix; strings.HasPrefix(string(dst[n:min(n+len(p), len(dst))]), p) {
		dst = append(dst[:n+1], dst[n+len(p):]...)
	}
	return dst, nil
}
