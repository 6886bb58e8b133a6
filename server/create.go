package server

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/quoted"
	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/trace"
	"fairlead.dev/watchcache"
)

// createAttempts bounds the attempts of a create whose generated name or companion turns out
// to be taken.
const createAttempts = 8

// errCompanion ends an attempt to create an object one of whose companions exists already.
var errCompanion = errors.New("what goes with the object exists already")

// create stores a new object.
func create(c *call) error {
	defer c.within(updateTimeout)()
	opts := &metav1.CreateOptions{}
	if err := c.options(opts); err != nil {
		return err
	}
	if errs := validation.ValidateCreateOptions(opts); len(errs) > 0 {
		return apistatus.InvalidOptions("CreateOptions", errs)
	}
	c.dryRun = len(opts.DryRun) > 0
	obj, err := c.decodeObject(opts.FieldValidation)
	if err != nil {
		return err
	}
	w, err := c.createAny(obj, opts)
	if err != nil {
		return err
	}
	return w.answer(c, http.StatusCreated)
}

// createAny creates the object, under other names if its generated name is taken, and with
// other companions if those exist already.
func (c *call) createAny(obj resource.Object, opts *metav1.CreateOptions) (*written, error) {
	record := c.recorder(c.fieldManager(opts.FieldManager))
	generated := obj.GetName() == "" && obj.GetGenerateName() != ""
	for attempt := 1; ; attempt++ {
		clearServerFields(obj)
		if err := request.SettleNamespace(obj, c.namespace()); err != nil {
			return nil, err
		}
		c.dedupOwners(obj, ownersTwice)
		w, err := c.createOne(obj, opts, record)
		switch {
		case err == errCompanion && attempt < createAttempts:
		case err == errCompanion:
			return nil, apierrors.NewServerTimeout(c.ep.ServedGR, "create", 1)
		case err == nil || !generated || !apierrors.IsAlreadyExists(err):
			return w, err
		case attempt == createAttempts:
			return nil, apierrors.NewGenerateNameConflict(c.ep.ServedGR, obj.GetName(), 1)
		}
		if obj, err = c.decodeObject(opts.FieldValidation); err != nil {
			return nil, err
		}
	}
}

// createOne takes an object through admission, validation and the commit. record enters its
// field managers; it is nil if the object has them already.
func (c *call) createOne(obj resource.Object, opts runtime.Object, record func(resource.Object)) (*written, error) {
	st := &c.ep.Strategy
	if st.Default != nil {
		st.Default(obj)
	}
	if record != nil {
		record(obj)
	}
	ar := c.admission(admission.Create, obj, nil, opts)
	ar.Name = obj.GetName()
	if why := c.ep.Closed; why != "" {
		return nil, apierrors.NewForbidden(c.ep.ServedGR, obj.GetName(), errors.New(why))
	}
	if err := c.chain().Admit(c.ctx, ar); err != nil {
		return nil, err
	}
	c.altered = ar.Object != runtime.Object(obj)
	obj, err := endpoint.AsObject(ar.Object)
	if err == nil {
		err = request.SettleNamespace(obj, c.namespace())
	}
	if err != nil {
		return nil, err
	}
	c.dedupOwners(obj, ownersTwiceAfter)
	initObjectMeta(obj)
	ar.Name = obj.GetName()
	if err := c.chain().Complete(c.ctx, ar); err != nil {
		return nil, err
	}
	w, err := c.insert(obj, ar)
	ar.Done(err == nil)
	return w, err
}

// insert validates and stores an object that mutating admission has passed.
func (c *call) insert(obj resource.Object, ar *admission.Request) (*written, error) {
	st := &c.ep.Strategy
	if st.Drop != nil {
		c.warn(st.Drop(obj, nil)...)
	}
	if st.PrepareForCreate != nil {
		st.PrepareForCreate(obj)
	}
	if errs := c.ep.ValidateNew(c.ctx, obj, ar.Faults, c.warnOne); len(errs) > 0 {
		return nil, apierrors.NewInvalid(c.ep.GroupKind(obj), obj.GetName(), quoted.Faults(errs))
	}
	c.defaults(obj) // of the fields that the strategy has filled in
	if err := c.chain().Validate(c.ctx, ar); err != nil {
		return nil, err
	}
	if st.Warnings != nil {
		c.warn(st.Warnings(obj)...)
	}
	if why := c.ep.Inert; why != "" {
		c.warn(why)
	}
	c.stamp(trace.Admitted)
	asked := obj.GetResourceVersion()
	w, err := c.encode(obj)
	if err != nil {
		return nil, err
	}
	if c.dryRun {
		w.obj.SetResourceVersion(asked)
		return w, c.refuseExisting(obj)
	}
	if rev, err := strconv.ParseUint(asked, 10, 64); err == nil && rev != 0 {
		return nil, errors.New("resourceVersion should not be set on objects to be created")
	}
	if w.with, err = c.along(ar); err != nil {
		return nil, err
	}
	res, err := c.commitObject(w, 0)
	switch {
	case err != nil:
		return nil, err
	case !res.Succeeded && res.Current[0] == nil:
		return nil, errCompanion
	case !res.Succeeded:
		return nil, c.alreadyExists(obj.GetName(), res.Current[0].Value)
	}
	w.revise(res.Revision)
	w.stored = true
	return w, nil
}

// refuseExisting takes the place of the commit in a dry run.
func (c *call) refuseExisting(obj resource.Object) error {
	o, _, err := c.ep.Cache.Get(c.ctx, obj.GetNamespace(), obj.GetName(), watchcache.ReadAt{})
	var unreadable *watchcache.UnreadableError
	switch {
	case errors.As(err, &unreadable):
		return c.alreadyExists(obj.GetName(), nil)
	case err == nil && o != nil:
		return c.alreadyExists(obj.GetName(), o.Value())
	}
	return err
}

func (c *call) alreadyExists(name string, there []byte) error {
	err := apierrors.NewAlreadyExists(c.ep.ServedGR, name)
	if bytes.Contains(there, []byte(`"deletionTimestamp":"`)) {
		err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
	}
	return err
}
