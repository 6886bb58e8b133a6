package write

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// Delete deletes an object or, if its grace period or finalizers keep it, marks it as
// terminating.
func (w *Writer) Delete(in *call.Call) error {
	c := w.Operation(in)
	defer c.Within(call.UpdateTimeout)()
	opts, err := c.deleteOptions()
	if err != nil {
		return err
	}
	if IgnoresReadErrors(opts) {
		return c.removeUnreadable()
	}
	removed, gone, err := c.Remove(c.Info.Name, opts, true)
	if err != nil {
		return err
	}
	code := http.StatusOK
	//lint:ignore SA1019 clients still send it
	if !gone && opts.OrphanDependents != nil && !*opts.OrphanDependents {
		code = http.StatusAccepted
	}
	if (gone || removed.pending) && !c.Endpoint.ShowsDeleted() {
		return c.Write(code, request.ResponseFormat{Media: c.Accept.Media, Pretty: c.Accept.Pretty}, apistatus.Success(&metav1.StatusDetails{
			Name: removed.obj.GetName(), Group: c.Endpoint.ServedGR.Group, Kind: c.Endpoint.ServedGR.Resource, UID: removed.obj.GetUID(),
		}))
	}
	return c.answer(&removed.Written, code)
}

// removed is the result of a delete.
type removed struct {
	Written
	// pending: the object was terminating already and is unchanged.
	pending bool
}

// Remove deletes the named object or marks it as terminating. With admit it asks admission
// first. gone reports that the object no longer exists.
func (c *Operation) Remove(name string, opts *metav1.DeleteOptions, admit bool) (w *removed, gone bool, err error) {
	for {
		now, err := c.Read(name, watchcache.ReadAt{Match: watchcache.Request})
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
		if err := c.Context.Err(); err != nil {
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
func (c *Operation) removal(now *watchcache.Object, opts *metav1.DeleteOptions, admit bool) (*removal, error) {
	now = now.Unpacked()
	obj, err := c.Decode(now)
	if err != nil {
		return nil, err
	}
	if err := c.CheckPreconditions(obj, opts); err != nil {
		return nil, err
	}
	r := &removal{now: now, admit: c.AdmissionRequest(admission.Delete, nil, obj, opts)}
	r.admit.Name = now.Name()
	if admit {
		if err := c.w.Admission.All(c.Context, r.admit); err != nil {
			return nil, err
		}
	}
	r.do = c.deletionStep(obj, opts.DeepCopy())
	r.Written = Written{obj: obj, key: now.Key(), rev: now.Revision()}
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
		r.Written = *marked
		r.revise(now.Revision())
	}
	return r, nil
}

// idle reports that no commit is needed: the object is in the wanted state already, or
// this is a dry run.
func (r *removal) idle(c *Operation) bool {
	return c.DryRun || r.do == stepPending || r.do == stepMark && string(r.value) == string(r.now.Value())
}

// commitRemoval commits a removal. lost reports that the object has changed meanwhile.
func (c *Operation) commitRemoval(r *removal) (lost bool, err error) {
	switch {
	case r.idle(c): // there is no commit that would find a later state
		lost = watchcache.Recheck(c.Context)
	case r.do == stepMark:
		lost, err = c.commitAt(r.now, storage.Put, &r.Written)
	case r.do == stepEnd:
		if lost, err = c.commitAt(r.now, storage.Put, &r.Written); err == nil && !lost {
			err = c.end(&r.Written)
		}
	default:
		lost, err = c.commitAt(r.now, storage.Delete, &r.Written)
	}
	r.admit.Done(err == nil && !lost)
	return lost, err
}

// end removes an object that this delete has marked with a grace period of 0. Watchers see a
// MODIFIED event with the deletionTimestamp and then the DELETED event, which has it too, as
// from kube-apiserver. An update between the two commits does not save the object; if another
// request removes it, that is success.
func (c *Operation) end(w *Written) error {
	marked := w.rev
	for at := marked; ; {
		res, err := c.commit(&Written{key: w.key}, at, storage.Delete)
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
func (c *Operation) commitAt(now *watchcache.Object, t storage.EventType, w *Written) (lost bool, err error) {
	res, err := c.commit(w, now.Revision(), t)
	if err != nil || !res.Succeeded {
		return err == nil, err
	}
	w.revise(res.Revision)
	return false, nil
}

// auditedOptions is the kind of the options in audit events, where kube-apiserver encodes them in its internal version.
var auditedOptions = schema.GroupVersionKind{Group: metav1.GroupName, Version: runtime.APIVersionInternal, Kind: "DeleteOptions"}

// deleteOptions decodes the options from the body or, if that is empty, the query.
func (c *Operation) deleteOptions() (*metav1.DeleteOptions, error) {
	body, err := c.Body()
	if err != nil {
		return nil, err
	}
	opts, err := c.Negotiator.DecodeDeleteOptions(c.HTTP, c.Query, body)
	if err != nil {
		return nil, err
	}
	c.DryRun = len(opts.DryRun) > 0
	if len(body) > 0 {
		c.AuditBody(opts, auditedOptions)
	}
	//lint:ignore SA1019 clients still send it
	if w := c.Endpoint.Strategy.OrphanWarning; w != "" && opts.PropagationPolicy == nil && opts.OrphanDependents == nil {
		c.Warn(w)
	}
	return opts, nil
}
