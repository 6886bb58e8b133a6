package server

import (
	"bytes"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/managed"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/storage"
	"fairlead.dev/trace"
	"fairlead.dev/watchcache"
)

// change is a read-modify-write of one object.
type change struct {
	// next makes the new object of the present one, anew at each call. Both are of the hub
	// version. now and old are nil if there is no object.
	next func(now *watchcache.Object, old resource.Object) (resource.Object, error)
	// uid, if set, is the UID that the object must have.
	uid types.UID
	// mayCreate lets the change create the object.
	mayCreate bool
	// trusted marks a change by the server itself, which is neither admitted nor validated.
	trusted bool
	// manager becomes the owner of the changed fields. A change that is trusted or recorded
	// leaves the managed fields as next makes them.
	manager  string
	recorded bool
	opts     runtime.Object
	// with is written in one transaction with the object.
	with companions
	// createOpts are the options that admission sees if the change creates.
	createOpts runtime.Object
}

// modify does a change. If the object has changed by the time of the commit, the change is
// done again on its new state, until the request's context ends.
func (c *call) modify(name string, ch change) (w *written, created bool, err error) {
	for {
		now, _, err := c.ep.Cache.Get(c.ctx, c.namespace(), name, watchcache.ReadAt{})
		if c.redefined() {
			err = errRedefined
		}
		if err != nil {
			return nil, false, apistatus.UnreadableForUpdate(err)
		}
		w, lost, err := c.attempt(name, now, &ch)
		if err != nil || !lost {
			return w, now == nil, err
		}
		if err := c.ctx.Err(); err != nil {
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
func (c *call) attempt(name string, now *watchcache.Object, ch *change) (w *written, lost bool, err error) {
	if now == nil {
		w, err := c.createByChange(name, ch)
		if err == errCompanion {
			return nil, true, nil
		}
		return w, false, err
	}
	old, err := c.decodeCurrent(now)
	if err != nil {
		return nil, false, err
	}
	if ch.uid != "" && ch.uid != old.GetUID() {
		return nil, false, c.uidConflict(name, ch.uid, old.GetUID())
	}
	obj, err := ch.next(now, old)
	if err != nil {
		return nil, false, err
	}
	if ch.trusted {
		return c.replace(now, obj, old, ch)
	}
	if err := request.SettleNamespace(obj, c.namespace()); err != nil {
		return nil, false, err
	}
	if err := request.CheckName(obj, name); err != nil {
		return nil, false, err
	}
	if err := c.checkRevision(obj, now); err != nil {
		return nil, false, err
	}
	c.defaults(obj)
	if !ch.recorded {
		c.recordFields(obj, old, now, ch.manager)
	}
	ar := c.admission(admission.Update, obj, old, ch.opts)
	if obj, err = c.admitUpdate(ar, obj, old); err != nil {
		return nil, false, err
	}
	if err = c.prepareUpdate(obj, old, ar.Faults); err == nil {
		err = c.chain().Validate(c.ctx, ar)
	}
	strikes := len(c.injectedFaults)
	if err == nil {
		err = c.failRenewal(obj, old)
	}
	if err == nil {
		ch.with, err = c.along(ar)
	}
	if err == nil {
		c.stamp(trace.Admitted)
		if w, lost, err = c.replace(now, obj, old, ch); err != nil || lost {
			c.injectedFaults = c.injectedFaults[:min(strikes, len(c.injectedFaults))] // the write has not happened
		}
	}
	ar.Done(err == nil && !lost)
	return w, lost, err
}

// admitUpdate takes an update through the mutating plugins.
func (c *call) admitUpdate(ar *admission.Request, obj, old resource.Object) (resource.Object, error) {
	if c.info.Subresource == "scale" {
		return c.admitScale(ar, obj, old)
	}
	if err := c.chain().Admit(c.ctx, ar); err != nil {
		return nil, err
	}
	c.altered = ar.Object != runtime.Object(obj)
	obj, err := endpoint.AsObject(ar.Object)
	if err != nil {
		return nil, err
	}
	c.dedupOwners(obj, ownersTwiceAfter)
	return obj, c.chain().Complete(c.ctx, ar)
}

func (c *call) defaults(obj runtime.Object) {
	if f := c.ep.Strategy.Default; f != nil {
		f(obj)
	}
}

// decodeCurrent returns the object as a Go value that the call may change.
func (c *call) decodeCurrent(now *watchcache.Object) (resource.Object, error) {
	if obj := c.s.writeCache.take(c.ep, now); obj != nil {
		c.lastRead.of, c.lastRead.foreign = nil, false
		return obj, nil
	}
	text, entries := managed.Cut(now.Value())
	obj, foreign, err := c.ep.DecodeStored(c.ctx, text, entries, now.Revision())
	if err != nil {
		return nil, err
	}
	c.lastRead.of, c.lastRead.text, c.lastRead.foreign = now, text, foreign
	return endpoint.AsObject(obj)
}

// textOf returns an object's stored text without managed fields.
func (c *call) textOf(now *watchcache.Object) []byte {
	if c.lastRead.of == now {
		return c.lastRead.text
	}
	text, _ := managed.Cut(now.Value())
	return text
}

// createByChange does the change of an object that does not exist.
func (c *call) createByChange(name string, ch *change) (*written, error) {
	if !ch.mayCreate {
		return nil, c.notFound(name)
	}
	if ch.uid != "" {
		return nil, c.uidConflict(name, ch.uid, "")
	}
	if err := c.authorize("create", name); err != nil {
		return nil, err
	}
	obj, err := ch.next(nil, nil)
	if err != nil {
		return nil, err
	}
	if err := request.SettleNamespace(obj, c.namespace()); err != nil {
		return nil, err
	}
	if err := request.CheckName(obj, name); err != nil {
		return nil, err
	}
	clearServerFields(obj)
	obj.SetResourceVersion("") // a create has no precondition
	record := c.recorder(ch.manager)
	if ch.recorded {
		record = nil
	}
	return c.createOne(obj, ch.createOpts, record)
}

// replace commits the new object.
func (c *call) replace(now *watchcache.Object, obj, old resource.Object, ch *change) (w *written, lost bool, err error) {
	if w, err = c.encode(obj); err != nil {
		return nil, false, err
	}
	c.preserveUnknownFields(now, w)
	w.with = ch.with
	if c.lastFinalizerRemoved(obj, old) {
		w.obj = obj // the object is removed, so its bytes are not stored
		return c.removeFinalized(w, now)
	}
	unchanged := bytes.Equal(w.value, now.Value())
	if !unchanged && !ch.trusted {
		unchanged = w.sinceThen(now, old)
	}
	if unchanged {
		// Without a change there is no write, but only if the object is still in
		// this state.
		w.revise(now.Revision())
		if c.dryRun {
			return w, false, nil
		}
		fresh, _, err := c.ep.Cache.Get(c.ctx, now.Namespace(), now.Name(), watchcache.ReadAt{})
		return w, revisionOf(fresh) != now.Revision(), err
	}
	if c.dryRun {
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
