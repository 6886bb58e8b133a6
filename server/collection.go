package server

import (
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// deleteCollection deletes each selected object by itself, and answers with
// the list of them. It stops at the first that is refused.
func deleteCollection(c *call) error {
	listOpts, err := c.listOptions()
	if err != nil {
		return err
	}
	sel, err := c.selection(listOpts)
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
	opts, err := c.deleteOptions()
	if err != nil {
		return err
	}
	p, err := c.openPage(sel, listOpts)
	if err != nil {
		return err
	}
	meta := listMeta{ResourceVersion: p.snap.Revision().String()}
	items := p.snap.List(sel, p.after, 0)
	if p.limit > 0 {
		items = p.cut(sel, &meta)
	}
	objects := slices.Collect(items)
	for _, o := range objects {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if _, _, err := c.remove(o.Name(), opts, true); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return c.writeList(f, meta, slices.Values(objects))
}
