package read

import (
	"slices"

	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/pressure"
	"fairlead.dev/internal/server/represent"
	"fairlead.dev/internal/server/serializer"
)

// List answers with the objects of one snapshot, written while it is walked. The handler
// writes the first piece only; see represent.ListWriter.
func List(c *call.Call) error {
	opts, err := c.ListOptions()
	if err != nil {
		return err
	}
	sel, pick, err := c.Selection(opts)
	if err != nil {
		return err
	}
	f, err := c.Representation()
	if err != nil {
		return err
	}
	if err := f.CheckShape(true); err != nil {
		return err
	}
	if err := c.ReserveList(pressure.List, pick != nil || c.Endpoint.AsksWebhook || f.Media == serializer.YAML); err != nil {
		return err
	}
	p, err := OpenPage(c, sel, opts)
	if err != nil {
		return err
	}
	meta := represent.ListMeta{ResourceVersion: p.Snapshot.Revision().String()}
	w := represent.Walk{}
	if w.Rest, err = p.Snapshot.Walk(sel, p.after); err != nil {
		return err
	}
	ctx := c.Context
	w.Rest.EndWhen(func() bool { return ctx.Err() != nil })
	switch {
	case pick != nil:
		w.Whole = true
		if w.Objects, err = p.selected(c, f, pick, sel, &meta); err != nil {
			return err
		}
	case p.limit > 0:
		w.Objects, w.Whole = p.cut(&w.Rest, sel, &meta), true
	}
	if c.Endpoint.AsksWebhook && pick == nil {
		w.Objects, w.Whole = slices.Collect(w.Items()), true
		if err := w.Err(); err != nil {
			return err
		}
		if err := f.Preconvert(c.Context, w.Objects); err != nil {
			return err
		}
	}
	return c.WriteList(f, meta, w)
}
