package server

import (
	"net/http"
	"slices"

	"fairlead.dev/internal/server/represent"
	"fairlead.dev/internal/server/serializer"
)

// list answers with the objects of one snapshot, written while it is walked. The handler
// writes the first piece only; see represent.ListWriter.
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
	if err := f.CheckShape(true); err != nil {
		return err
	}
	p, err := c.openPage(sel, opts)
	if err != nil {
		return err
	}
	meta := represent.ListMeta{ResourceVersion: p.snap.Revision().String()}
	w := represent.Walk{}
	if w.Rest, err = p.snap.Walk(sel, p.after); err != nil {
		return err
	}
	ctx := c.ctx
	w.Rest.EndWhen(func() bool { return ctx.Err() != nil })
	switch {
	case pick != nil:
		w.Whole = true
		if w.Objects, err = c.pickedPage(f, pick, p, sel, &meta); err != nil {
			return err
		}
	case p.limit > 0:
		w.Objects, w.Whole = p.cut(&w.Rest, sel, &meta), true
	}
	if c.ep.AsksWebhook && pick == nil {
		w.Objects, w.Whole = slices.Collect(w.Items()), true
		if err := w.Err(); err != nil {
			return err
		}
		if err := f.Preconvert(c.ctx, w.Objects); err != nil {
			return err
		}
	}
	return c.writeList(f, meta, w)
}

// writeList writes the list in the negotiated representation.
func (c *call) writeList(f *represent.Representation, m represent.ListMeta, w represent.Walk) error {
	if f.Media == serializer.YAML || f.Pretty {
		data, err := f.AppendList(nil, m, w.Items())
		if err == nil {
			err = w.Err()
		}
		if err == nil {
			data, err = serializer.FinishJSON(data, f.Media, f.Pretty)
		}
		if err != nil {
			return err
		}
		return c.writeBytes(http.StatusOK, f.Media.String(), data)
	}
	l := &represent.ListWriter{Representation: f, Walk: w}
	box := represent.Buffers.Get().(*[]byte)
	b, err := l.Head((*box)[:0], m)
	if err != nil {
		represent.ReleaseBuffer(box, b)
		return err
	}
	more := false
	if b, more, err = l.Next(b, represent.ChunkSize); err != nil || !more {
		defer func() { represent.ReleaseBuffer(box, b) }()
		if err == nil {
			err = c.writeBytes(http.StatusOK, f.Media.String(), b)
		}
		return err
	}
	err = c.begin(l, w, b)
	represent.ReleaseBuffer(box, b)
	return err
}
