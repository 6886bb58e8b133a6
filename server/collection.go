package server

import (
	"context"
	"iter"
	"slices"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/server/represent"
	"fairlead.dev/watchcache"
)

// deleteCollection deletes each of the selected objects, see removeEach, and answers with the
// list of them as they were.
func deleteCollection(c *call) error {
	listOpts, err := c.listOptions()
	if err != nil {
		return err
	}
	sel, pick, err := c.selection(listOpts)
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
	opts, err := c.deleteOptions()
	if err == nil {
		err = refuseIgnoringReadErrors(opts)
	}
	if err != nil {
		return err
	}
	p, err := c.openPage(sel, listOpts)
	if err != nil {
		return err
	}
	meta := represent.ListMeta{ResourceVersion: p.snap.Revision().String()}
	var objects []*watchcache.Object
	walk, err := p.snap.Walk(sel, p.after)
	if err != nil {
		return err
	}
	walk.EndWhen(func() bool { return c.ctx.Err() != nil })
	switch {
	case pick != nil:
		if objects, err = c.pickedPage(f, pick, p, sel, &meta); err != nil {
			return err
		}
	case p.limit > 0:
		objects = p.cut(&walk, sel, &meta)
	default:
		objects = slices.Collect(walk.Rest())
	}
	if walk.Stopped() {
		return context.DeadlineExceeded
	}
	if err := c.removeEach(objects, opts); err != nil {
		return err
	}
	return c.writeList(f, meta, represent.WalkOf(objects))
}

// collect returns the objects of a list, unless it fails.
func collect(list iter.Seq[*watchcache.Object], err error) ([]*watchcache.Object, error) {
	if err != nil {
		return nil, err
	}
	return slices.Collect(list), nil
}

// removalsAtOnce bounds the deletions of a collection that wait for the store at once. The
// store commits all that arrive during one sync together.
const removalsAtOnce = 100

// removeEach deletes objects that were read recently, and stops at the first that is refused.
// Objects that no longer exist count as deleted.
//
// The deletions are decided in order, one after the other, and only the commits overlap. An
// object that has changed before its commit is read and decided again at the end.
func (c *call) removeEach(objects []*watchcache.Object, opts *metav1.DeleteOptions) error {
	if c.warned == nil {
		c.warned = map[string]bool{} // the calls for the objects share it
	}
	commits, ctx := errgroup.WithContext(c.ctx)
	commits.SetLimit(removalsAtOnce)
	late := make([]bool, len(objects))
	var refused error
	for i, o := range objects {
		if refused = ctx.Err(); refused != nil {
			break
		}
		one := c.callFor(o)
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
		if _, _, err := c.callFor(o).remove(o.Name(), opts, true); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return refused
}

// callFor returns a copy of the call for one of its objects.
func (c *call) callFor(o *watchcache.Object) *call {
	one := *c
	one.info.Namespace, one.info.Name = o.Namespace(), o.Name()
	c.injectedFaults = nil // they are of the first that is written
	return &one
}
