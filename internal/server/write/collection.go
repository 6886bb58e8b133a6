package write

import (
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/read"
	"fairlead.dev/internal/server/represent"
	"fairlead.dev/watchcache"
)

// DeleteCollection deletes each of the selected objects, see removeEach, and answers with the
// list of them as they were.
func (w *Writer) DeleteCollection(in *call.Call) error {
	c := w.Operation(in)
	listOpts, err := c.ListOptions()
	if err != nil {
		return err
	}
	sel, pick, err := c.Selection(listOpts)
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
	opts, err := c.deleteOptions()
	if err == nil {
		err = refuseIgnoringReadErrors(opts)
	}
	if err != nil {
		return err
	}
	p, err := read.OpenPage(c.Call, sel, listOpts)
	if err != nil {
		return err
	}
	meta := represent.ListMeta{ResourceVersion: p.Snapshot.Revision().String()}
	objects, err := p.Objects(c.Call, f, pick, sel, &meta)
	if err != nil {
		return err
	}
	if err := c.removeEach(objects, opts); err != nil {
		return err
	}
	return c.WriteList(f, meta, represent.WalkOf(objects))
}

// removalsAtOnce bounds the deletions of a collection that wait for the store at once. The
// store commits all that arrive during one sync together.
const removalsAtOnce = 100

// removeEach deletes objects that were read recently, and stops at the first that is refused.
// Objects that no longer exist count as deleted.
//
// The deletions are decided in order, one after the other, and only the commits overlap. An
// object that has changed before its commit is read and decided again at the end.
func (c *Operation) removeEach(objects []*watchcache.Object, opts *metav1.DeleteOptions) error {
	commits, ctx := errgroup.WithContext(c.Context)
	commits.SetLimit(removalsAtOnce)
	late := make([]bool, len(objects))
	var refused error
	for i, o := range objects {
		if refused = ctx.Err(); refused != nil {
			break
		}
		one := c.each(o)
		r, err := one.removal(o, opts, true)
		if err != nil {
			refused = err
			break
		}
		if r.idle(one) {
			_, _ = one.commitRemoval(r) // this object needs no commit
			continue
		}
		commits.Go(func() error {
			lost, err := one.commitRemoval(r)
			late[i] = lost
			return err
		})
	}
	if err := commits.Wait(); err != nil {
		return err
	}
	for i, o := range objects {
		if !late[i] {
			continue
		}
		if _, _, err := c.each(o).Remove(o.Name(), opts, true); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return refused
}

// each returns a copy of the operation for one of its objects.
func (c *Operation) each(o *watchcache.Object) *Operation {
	one := *c
	one.Call = c.Call.For(o.Namespace(), o.Name())
	return &one
}
