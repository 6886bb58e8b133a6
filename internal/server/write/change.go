package write

import (
	"bytes"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// Change is a read-modify-write of one object.
type Change struct {
	// Next makes the new object of the present one, anew at each call. Both are of the hub
	// version. now and old are nil if there is no object.
	Next func(now *watchcache.Object, old resource.Object) (resource.Object, error)
	// Trusted marks a change by the server itself, which is neither admitted nor validated.
	Trusted bool

	// uid, if set, is the UID that the object must have.
	uid types.UID
	// manager becomes the owner of the changed fields. A change that is trusted or recorded
	// leaves the managed fields as Next makes them.
	manager  fieldManager
	recorded bool
	// admit, if set, takes the new object through the mutating plugins in place of admitUpdate.
	admit func(ar *admission.Request, obj, old resource.Object) (resource.Object, error)
	// opts are the options that admission sees; createOpts those if the change creates, which
	// mayCreate allows.
	opts, createOpts runtime.Object
	mayCreate        bool
}

// Modify does a change. If the object has changed by the time of the commit, the change is
// done again on its new state, until the request's context ends.
func (c *Operation) Modify(name string, ch Change) (w *Written, created bool, err error) {
	for {
		now, _, err := c.Endpoint.Cache.Get(c.Context, c.Namespace(), name, watchcache.ReadAt{Match: watchcache.Request})
		if c.Outdated() {
			err = endpoint.ErrRedefined
		}
		if err != nil {
			return nil, false, apistatus.UnreadableForUpdate(err)
		}
		w, lost, err := c.attempt(name, now.Unpacked(), &ch)
		if err != nil || !lost {
			return w, now == nil, err
		}
		if err := c.Context.Err(); err != nil {
			return nil, false, err
		}
	}
}

func revisionOf(o *watchcache.Object) storage.Revision {
	if o == nil {
		return 0
	}
	return o.Revision()
}

// attempt does the change on one state of the object. lost reports that the object has changed
// meanwhile.
func (c *Operation) attempt(name string, now *watchcache.Object, ch *Change) (w *Written, lost bool, err error) {
	if now == nil {
		w, err := c.createByChange(name, ch)
		if err == errCompanion {
			return nil, true, nil
		}
		return w, false, err
	}
	old, err := c.Decode(now)
	if err != nil {
		return nil, false, err
	}
	if ch.uid != "" && ch.uid != old.GetUID() {
		return nil, false, c.uidConflict(name, ch.uid, old.GetUID())
	}
	obj, err := ch.Next(now, old)
	if err != nil {
		return nil, false, err
	}
	if ch.Trusted {
		return c.replace(now, obj, old, ch, companions{})
	}
	if err := request.SettleNamespace(obj, c.Namespace()); err != nil {
		return nil, false, err
	}
	if err := request.CheckName(obj, name); err != nil {
		return nil, false, err
	}
	if err := c.checkRevision(obj, now); err != nil {
		return nil, false, err
	}
	c.setDefaults(obj)
	if !ch.recorded {
		c.recordFields(obj, old, now, ch.manager)
	}
	ar := c.AdmissionRequest(admission.Update, obj, old, ch.opts)
	admit := ch.admit
	if admit == nil {
		admit = c.admitUpdate
	}
	if obj, err = admit(ar, obj, old); err != nil {
		return nil, false, err
	}
	if err = c.prepareUpdate(obj, old, ar); err == nil {
		err = c.w.Admission.Validate(c.Context, ar)
	}
	var with companions
	if err == nil {
		with, err = c.along(ar)
	}
	if err == nil {
		w, lost, err = c.replace(now, obj, old, ch, with)
	}
	ar.Done(err == nil && !lost)
	return w, lost, err
}

// admitUpdate takes an update through the mutating plugins.
func (c *Operation) admitUpdate(ar *admission.Request, obj, _ resource.Object) (resource.Object, error) {
	if err := c.w.Admission.Admit(c.Context, ar); err != nil {
		return nil, err
	}
	c.replaced = ar.Object != runtime.Object(obj)
	obj, err := endpoint.AsObject(ar.Object)
	if err != nil {
		return nil, err
	}
	c.dedupOwners(obj, ownersTwiceAfter)
	return obj, c.w.Admission.Complete(c.Context, ar)
}

// createByChange does the change of an object that does not exist.
func (c *Operation) createByChange(name string, ch *Change) (*Written, error) {
	if !ch.mayCreate {
		return nil, c.NotFound(name)
	}
	if ch.uid != "" {
		return nil, c.uidConflict(name, ch.uid, "")
	}
	if err := c.Authorize("create", name); err != nil {
		return nil, err
	}
	obj, err := ch.Next(nil, nil)
	if err != nil {
		return nil, err
	}
	if err := request.SettleNamespace(obj, c.Namespace()); err != nil {
		return nil, err
	}
	if err := request.CheckName(obj, name); err != nil {
		return nil, err
	}
	clearServerFields(obj)
	obj.SetResourceVersion("") // a create has no precondition
	manager := &ch.manager
	if ch.recorded {
		manager = nil
	}
	return c.createOne(obj, ch.createOpts, manager)
}

// replace commits the new object.
func (c *Operation) replace(now *watchcache.Object, obj, old resource.Object, ch *Change, with companions) (w *Written, lost bool, err error) {
	if w, err = c.encode(obj); err != nil {
		return nil, false, err
	}
	c.preserveUnknownFields(now, w)
	w.with = with
	if c.lastFinalizerRemoved(obj, old) {
		w.obj = obj // the object is removed, so its bytes are not stored
		return c.removeFinalized(w, now)
	}
	unchanged := bytes.Equal(w.value, now.Value())
	if !unchanged && !ch.Trusted {
		unchanged = w.keepTimes(now, old)
	}
	if unchanged && c.w.Stale != nil {
		stale, err := c.w.Stale(c.Context, c.Endpoint.Shard.Store, w.key)
		if err != nil {
			return nil, false, err
		}
		unchanged = !stale
	}
	if unchanged {
		// Without a change there is no write, but only if the object is still in
		// this state.
		w.revise(now.Revision())
		if c.DryRun {
			return w, false, nil
		}
		fresh, _, err := c.Endpoint.Cache.Get(c.Context, now.Namespace(), now.Name(), watchcache.ReadAt{})
		return w, revisionOf(fresh) != now.Revision(), err
	}
	if c.DryRun {
		w.revise(now.Revision())
		return w, false, nil
	}
	res, err := c.commitObject(w, now.Revision())
	if err != nil || !res.Succeeded {
		return nil, err == nil, err
	}
	w.revise(res.Revision)
	w.stored = true
	return w, false, nil
}
