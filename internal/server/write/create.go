package write

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
	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/watchcache"
)

// createAttempts bounds the attempts of a create whose generated name or companion turns out
// to be taken.
const createAttempts = 8

// errCompanion ends an attempt to create an object one of whose companions exists already.
var errCompanion = errors.New("a companion of the object exists already")

// Create stores a new object.
func (w *Writer) Create(in *call.Call) error {
	c := w.Operation(in)
	defer c.Within(call.UpdateTimeout)()
	opts := &metav1.CreateOptions{}
	if err := c.Options(opts); err != nil {
		return err
	}
	if errs := validation.ValidateCreateOptions(opts); len(errs) > 0 {
		return apistatus.InvalidOptions("CreateOptions", errs)
	}
	c.DryRun = len(opts.DryRun) > 0
	obj, err := c.DecodeObject(opts.FieldValidation)
	if err != nil {
		return err
	}
	made, err := c.createAny(obj, opts)
	if err != nil {
		return err
	}
	return c.answer(made, http.StatusCreated)
}

// createAny creates the object, under other names if its generated name is taken, and with
// other companions if those exist already.
func (c *Operation) createAny(obj resource.Object, opts *metav1.CreateOptions) (*Written, error) {
	manager := c.manager(opts.FieldManager)
	generated := obj.GetName() == "" && obj.GetGenerateName() != ""
	for attempt := 1; ; attempt++ {
		clearServerFields(obj)
		if err := request.SettleNamespace(obj, c.Namespace()); err != nil {
			return nil, err
		}
		c.dedupOwners(obj, ownersTwice)
		w, err := c.createOne(obj, opts, &manager)
		switch {
		case err == errCompanion && attempt < createAttempts:
		case err == errCompanion:
			return nil, apierrors.NewServerTimeout(c.Endpoint.ServedGR, "create", 1)
		case err == nil || !generated || !apierrors.IsAlreadyExists(err):
			return w, err
		case attempt == createAttempts:
			return nil, apierrors.NewGenerateNameConflict(c.Endpoint.ServedGR, obj.GetName(), 1)
		}
		if obj, err = c.DecodeObject(opts.FieldValidation); err != nil {
			return nil, err
		}
	}
}

// createOne takes an object through admission, validation and the commit. manager becomes the
// owner of its fields; it is nil if the object has its managed fields already.
func (c *Operation) createOne(obj resource.Object, opts runtime.Object, manager *fieldManager) (*Written, error) {
	c.setDefaults(obj)
	if manager != nil {
		c.recordFields(obj, nil, nil, *manager)
	}
	ar := c.AdmissionRequest(admission.Create, obj, nil, opts)
	ar.Name = obj.GetName()
	if why := c.Endpoint.Closed; why != "" {
		return nil, apierrors.NewForbidden(c.Endpoint.ServedGR, obj.GetName(), errors.New(why))
	}
	if err := c.w.Admission.Admit(c.Context, ar); err != nil {
		return nil, err
	}
	c.replaced = ar.Object != runtime.Object(obj)
	obj, err := endpoint.AsObject(ar.Object)
	if err == nil {
		err = request.SettleNamespace(obj, c.Namespace())
	}
	if err != nil {
		return nil, err
	}
	c.dedupOwners(obj, ownersTwiceAfter)
	initObjectMeta(obj)
	ar.Name = obj.GetName()
	if err := c.w.Admission.Complete(c.Context, ar); err != nil {
		return nil, err
	}
	w, err := c.insert(obj, ar)
	ar.Done(err == nil)
	return w, err
}

// insert validates and stores an object that mutating admission has passed.
func (c *Operation) insert(obj resource.Object, ar *admission.Request) (*Written, error) {
	st := &c.Endpoint.Strategy
	if st.Drop != nil {
		c.Warn(st.Drop(obj, nil)...)
	}
	if st.PrepareForCreate != nil {
		st.PrepareForCreate(obj)
	}
	if errs := c.Endpoint.ValidateNew(c.Context, obj, ar.Faults, ar.Warn); len(errs) > 0 {
		return nil, apierrors.NewInvalid(c.Endpoint.GroupKind(obj), obj.GetName(), quoted.Faults(errs))
	}
	c.setDefaults(obj) // of the fields that the strategy has filled in
	if err := c.w.Admission.Validate(c.Context, ar); err != nil {
		return nil, err
	}
	if st.Warnings != nil {
		c.Warn(st.Warnings(obj)...)
	}
	if why := c.Endpoint.Inert; why != "" {
		c.Warn(why)
	}
	asked := obj.GetResourceVersion()
	w, err := c.encode(obj)
	if err != nil {
		return nil, err
	}
	if c.DryRun {
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
func (c *Operation) refuseExisting(obj resource.Object) error {
	o, _, err := c.Endpoint.Cache.Get(c.Context, obj.GetNamespace(), obj.GetName(), watchcache.ReadAt{})
	var unreadable *watchcache.UnreadableError
	switch {
	case errors.As(err, &unreadable):
		return c.alreadyExists(obj.GetName(), nil)
	case err == nil && o != nil:
		return c.alreadyExists(obj.GetName(), o.Value())
	}
	return err
}

func (c *Operation) alreadyExists(name string, there []byte) error {
	err := apierrors.NewAlreadyExists(c.Endpoint.ServedGR, name)
	if bytes.Contains(there, []byte(`"deletionTimestamp":"`)) {
		err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
	}
	return err
}
