package server

import (
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/watchcache"
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
	var objects []*watchcache.Object
	if p.limit > 0 {
		objects = p.cut(sel, &meta)
	} else {
		objects = slices.Collect(p.snap.List(sel, p.after, 0))
	}
	for _, o := range objects {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if _, _, err := c.remove(o.Name(), opts, true); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return c.writeList(f, meta, walk{whole: true, objects: objects})
}
