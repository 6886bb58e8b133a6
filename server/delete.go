package server

import (
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"fairlead.dev/resource"
	"fairlead.dev/server/admission"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// deleteVerb deletes an object or, if somebody has to do something first,
// marks it as going.
func deleteVerb(c *call) error {
	defer c.within(requestTimeout)()
	opts, err := c.deleteOptions()
	if err != nil {
		return err
	}
	w, gone, err := c.remove(c.info.name, opts, true)
	if err != nil {
		return err
	}
	code := http.StatusOK
	//lint:ignore SA1019 clients still send it
	if !gone && opts.OrphanDependents != nil && !*opts.OrphanDependents {
		code = http.StatusAccepted
	}
	if (gone || w.pending) && !c.ep.ShowsDeleted() {
		return c.write(code, accept{media: c.accept.media, pretty: c.accept.pretty}, success(&metav1.StatusDetails{
			Name: w.obj.GetName(), Group: c.ep.gr.Group, Kind: c.ep.gr.Resource, UID: w.obj.GetUID(),
		}))
	}
	return w.answer(c, code)
}

// removed is what a delete leaves to say.
type removed struct {
	written
	// pending: it was going already, and nothing has changed.
	pending bool
}

// remove deletes the named object or marks it, and asks admission first unless it
// has allowed the request already. gone says that it is no more.
func (c *call) remove(name string, opts *metav1.DeleteOptions, admit bool) (w *removed, gone bool, err error) {
	for {
		now, err := c.read(name, watchcache.ReadAt{})
		if err != nil {
			return nil, false, err
		}
		old, err := c.decodeNow(now)
		if err != nil {
			return nil, false, err
		}
		if err := c.checkPreconditions(old, opts); err != nil {
			return nil, false, err
		}
		ar := c.admission(admission.Delete, nil, old, opts)
		ar.Name = name
		if admit {
			if err := c.chain().All(c.ctx, ar); err != nil {
				return nil, false, err
			}
		}
		w, gone, lost, err := c.removeFrom(now, old, opts.DeepCopy())
		ar.Done(err == nil && !lost)
		if err != nil || !lost {
			return w, gone, err
		}
		if err := c.ctx.Err(); err != nil {
			return nil, false, err
		}
	}
}

// removeFrom does it to one state of the object; lost says that the store has
// another one by now.
func (c *call) removeFrom(now *watchcache.Object, old resource.Object, opts *metav1.DeleteOptions) (w *removed, gone, lost bool, err error) {
	obj := old.DeepCopyObject().(resource.Object)
	do := c.dyingStep(obj, opts)
	w = &removed{}
	switch do {
	case stepPending:
		w.written = written{obj: old, key: now.Key(), value: now.Value(), rev: now.Revision()}
		w.pending = true
		return w, false, false, nil
	case stepMark:
		obj.SetResourceVersion("")
		marked, err := c.encode(obj)
		if err != nil {
			return nil, false, false, err
		}
		c.keepForeign(now, marked)
		w.written = *marked
		w.revise(now.Revision())
		if c.dryRun || string(w.value) == string(now.Value()) {
			return w, false, false, nil
		}
		lost, err := c.commitAt(now, storage.Put, &w.written)
		return w, false, lost, err
	}
	// What is shown of an object that went with a grace of 0 says so.
	last, err := c.encode(obj)
	if err != nil {
		return nil, false, false, err
	}
	w.written = *last
	w.revise(now.Revision())
	if c.dryRun {
		return w, true, false, nil
	}
	lost, err = c.commitAt(now, storage.Delete, &w.written)
	return w, true, lost, err
}

// commitAt does one write on the condition that the object is as it was read.
func (c *call) commitAt(now *watchcache.Object, t storage.EventType, w *written) (lost bool, err error) {
	res, err := c.commit(now.Key(), now.Revision(), t, w.value)
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
	gr := schema.GroupResource{Group: c.ep.gvk.Group, Resource: c.ep.gvk.Kind}
	if p.UID != nil && *p.UID != old.GetUID() {
		return conflict(gr, old.GetName(), fmt.Sprintf("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", *p.UID, old.GetUID()))
	}
	if rv := ptr.Deref(p.ResourceVersion, old.GetResourceVersion()); rv != old.GetResourceVersion() {
		return conflict(gr, old.GetName(), fmt.Sprintf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", rv, old.GetResourceVersion()))
	}
	return nil
}
