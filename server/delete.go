package server

import (
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// deleteVerb deletes an object or, if its grace period or finalizers keep it, marks it as
// terminating.
func deleteVerb(c *call) error {
	defer c.within(updateTimeout)()
	opts, err := c.deleteOptions()
	if err != nil {
		return err
	}
	if ignoresReadErrors(opts) {
		return c.removeUnreadable()
	}
	w, gone, err := c.remove(c.info.Name, opts, true)
	if err != nil {
		return err
	}
	code := http.StatusOK
	//lint:ignore SA1019 clients still send it
	if !gone && opts.OrphanDependents != nil && !*opts.OrphanDependents {
		code = http.StatusAccepted
	}
	if (gone || w.pending) && !c.ep.ShowsDeleted() {
		return c.write(code, request.ResponseFormat{Media: c.accept.Media, Pretty: c.accept.Pretty}, apistatus.Success(&metav1.StatusDetails{
			Name: w.obj.GetName(), Group: c.ep.ServedGR.Group, Kind: c.ep.ServedGR.Resource, UID: w.obj.GetUID(),
		}))
	}
	return w.answer(c, code)
}

// removed is the result of a delete.
type removed struct {
	written
	// pending: the object was terminating already, and nothing has changed.
	pending bool
}

// remove deletes the named object or marks it as terminating. With admit it asks admission
// first. gone reports that the object no longer exists.
func (c *call) remove(name string, opts *metav1.DeleteOptions, admit bool) (w *removed, gone bool, err error) {
	for {
		now, err := c.read(name, watchcache.ReadAt{})
		if err != nil {
			return nil, false, err
		}
		r, err := c.removal(now, opts, admit)
		if err != nil {
			return nil, false, err
		}
		lost, err := c.commitRemoval(r)
		if err != nil {
			return nil, false, err
		}
		if !lost {
			return &r.removed, r.do == stepRemove || r.do == stepEnd, nil
		}
		if err := c.ctx.Err(); err != nil {
			return nil, false, err
		}
	}
}

// removal is the planned effect of a delete on one state of an object.
type removal struct {
	removed
	now   *watchcache.Object
	do    step
	admit *admission.Request
}

// removal plans the effect of a delete on an object and asks admission about it.
func (c *call) removal(now *watchcache.Object, opts *metav1.DeleteOptions, admit bool) (*removal, error) {
	obj, err := c.decodeCurrent(now)
	if err != nil {
		return nil, err
	}
	if err := c.checkPreconditions(obj, opts); err != nil {
		return nil, err
	}
	r := &removal{now: now, admit: c.admission(admission.Delete, nil, obj, opts)}
	r.admit.Name = now.Name()
	if admit {
		if err := c.chain().All(c.ctx, r.admit); err != nil {
			return nil, err
		}
	}
	r.do = c.deletionStep(obj, opts.DeepCopy())
	r.written = written{obj: obj, key: now.Key(), rev: now.Revision()}
	switch r.do {
	case stepPending:
		r.value, r.pending = now.Value(), true
	case stepRemove:
		if r.with, err = c.along(r.admit); err != nil {
			r.admit.Done(false)
			return nil, err
		}
	case stepMark, stepEnd:
		obj.SetResourceVersion("")
		marked, err := c.encode(obj)
		if err != nil {
			r.admit.Done(false)
			return nil, err
		}
		c.preserveUnknownFields(now, marked)
		r.written = *marked
		r.revise(now.Revision())
	}
	return r, nil
}

// idle reports that there is nothing to commit: the object is in the wanted state already, or
// this is a dry run.
func (r *removal) idle(c *call) bool {
	return c.dryRun || r.do == stepPending || r.do == stepMark && string(r.value) == string(r.now.Value())
}

// commitRemoval commits a removal. lost reports that the object has changed meanwhile.
func (c *call) commitRemoval(r *removal) (lost bool, err error) {
	switch {
	case r.idle(c):
	case r.do == stepMark:
		lost, err = c.commitAt(r.now, storage.Put, &r.written)
	case r.do == stepEnd:
		if lost, err = c.commitAt(r.now, storage.Put, &r.written); err == nil && !lost {
			err = c.end(&r.written)
		}
	default:
		lost, err = c.commitAt(r.now, storage.Delete, &r.written)
	}
	r.admit.Done(err == nil && !lost)
	return lost, err
}

// end removes an object that this delete has marked with a grace period of 0. Watchers see a
// MODIFIED event with the deletionTimestamp and then the DELETED event, which has it too, as
// from kube-apiserver. An update between the two commits does not save the object; if another
// request removes it, that is success.
func (c *call) end(w *written) error {
	marked := w.rev
	for at := marked; ; {
		res, err := c.commit(&written{key: w.key}, at, storage.Delete)
		switch {
		case err != nil:
			return err
		case res.Succeeded:
			w.revise(res.Revision)
			w.value = nil
			return nil
		case res.Current[0] == nil || res.Current[0].CreateRevision > marked:
			return nil
		}
		at = res.Current[0].ModRevision
	}
}

// commitAt commits one write on the condition that the object is unchanged.
func (c *call) commitAt(now *watchcache.Object, t storage.EventType, w *written) (lost bool, err error) {
	res, err := c.commit(w, now.Revision(), t)
	if err != nil || !res.Succeeded {
		return err == nil, err
	}
	w.revise(res.Revision)
	return false, nil
}

func (c *call) checkPreconditions(old resource.Object, opts *metav1.DeleteOptions) error {
	p := opts.Preconditions
	if p == nil {
		return nil
	}
	gr := schema.GroupResource{Group: c.ep.ServedGVK.Group, Resource: c.ep.ServedGVK.Kind}
	if p.UID != nil && *p.UID != old.GetUID() {
		return apistatus.Conflict(gr, old.GetName(), fmt.Sprintf("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", *p.UID, old.GetUID()))
	}
	if rv := ptr.Deref(p.ResourceVersion, old.GetResourceVersion()); rv != old.GetResourceVersion() {
		return apistatus.Conflict(gr, old.GetName(), fmt.Sprintf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", rv, old.GetResourceVersion()))
	}
	return nil
}
