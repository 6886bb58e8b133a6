package write

import (
	"fmt"
	"math"
	"net/http"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/patch"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/serializer"
	"fairlead.dev/watchcache"
)

var scaleKind = schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}

// Scale reads and writes the replicas of an object as an autoscaling/v1 Scale.
func (w *Writer) Scale(in *call.Call) error {
	c := w.Operation(in)
	access := c.Endpoint.Strategy.Scale
	if access == nil {
		return apistatus.MethodNotAllowed()
	}
	defer c.Within(call.UpdateTimeout)()
	switch c.Info.Verb {
	case "update":
		return c.updateScale(access)
	case "patch":
		return c.patchScale(access)
	}
	now, err := c.Read(c.Info.Name, watchcache.ReadAt{Match: watchcache.Request})
	if err != nil {
		return err
	}
	obj, err := c.Decode(now)
	if err != nil {
		return err
	}
	if access.Check != nil {
		if err := access.Check(obj); err != nil {
			return err
		}
	}
	return c.answerScale(access, obj)
}

func (c *Operation) answerScale(access *resource.ScaleAccess, obj resource.Object) error {
	s, err := scaleOf(access, obj)
	if err != nil {
		return err
	}
	if c.Accept.Shape == request.AsTable {
		return c.answerScaleTable(s)
	}
	return c.AnswerOther(http.StatusOK, s, scaleKind)
}

// scaleOf is the object as a Scale.
func scaleOf(access *resource.ScaleAccess, obj resource.Object) (*autoscalingv1.Scale, error) {
	selector, err := access.Selector(obj)
	if err != nil {
		return nil, err
	}
	s := &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{
			Name: obj.GetName(), Namespace: obj.GetNamespace(), UID: obj.GetUID(),
			ResourceVersion: obj.GetResourceVersion(), CreationTimestamp: obj.GetCreationTimestamp(),
		},
		Spec:   autoscalingv1.ScaleSpec{Replicas: access.Replicas(obj)},
		Status: autoscalingv1.ScaleStatus{Replicas: access.StatusReplicas(obj), Selector: selector},
	}
	s.SetGroupVersionKind(scaleKind)
	return s, nil
}

func (c *Operation) updateScale(access *resource.ScaleAccess) error {
	opts := &metav1.UpdateOptions{}
	if err := c.Options(opts); err != nil {
		return err
	}
	if errs := validation.ValidateUpdateOptions(opts); len(errs) > 0 {
		return apistatus.InvalidOptions("UpdateOptions", errs)
	}
	asked := &autoscalingv1.Scale{}
	if _, err := c.ReadCreate(asked, scaleKind); err != nil {
		return err
	}
	ch := Change{opts: opts, manager: c.manager(opts.FieldManager)}
	return c.rescale(access, ch, func(*autoscalingv1.Scale, resource.Object) (*autoscalingv1.Scale, error) { return asked, nil })
}

func (c *Operation) patchScale(access *resource.ScaleAccess) error {
	opts, p, err := c.readPatch(endpoint.CheckTypedPatch)
	if err != nil {
		return err
	}
	if isApply(p.Type) {
		return c.applyScale(access, p, opts)
	}
	update := &metav1.UpdateOptions{DryRun: opts.DryRun, FieldManager: opts.FieldManager, FieldValidation: opts.FieldValidation}
	ch := Change{opts: update, manager: c.manager(opts.FieldManager)}
	return c.rescale(access, ch, func(now *autoscalingv1.Scale, _ resource.Object) (*autoscalingv1.Scale, error) {
		current, err := serializer.Marshal(now, serializer.JSON)
		if err != nil {
			return nil, err
		}
		return c.patchScaleText(p, current, opts.FieldValidation)
	})
}

// patchScaleText makes a Scale of the patched text of one.
func (c *Operation) patchScaleText(p patch.Patch, current []byte, directive string) (*autoscalingv1.Scale, error) {
	asked := &autoscalingv1.Scale{}
	r, err := p.Apply(c.Context, current, asked)
	if err != nil {
		return nil, err
	}
	text := &endpoint.PatchedText{Patch: p, Result: r, Before: current, Unknown: c.lastRead.unknown, Directive: directive}
	warnings, err := text.DecodeInto(asked, c.Endpoint.ServedVersion.New)
	c.Warn(warnings...)
	return asked, err
}

// rescale sets the replicas that next makes of the present Scale. next is also
// given the object to be, of which it may change the record of owners.
func (c *Operation) rescale(access *resource.ScaleAccess, ch Change, next func(now *autoscalingv1.Scale, obj resource.Object) (*autoscalingv1.Scale, error)) error {
	ch.manager.replicasOnly, ch.admit = true, c.admitScale
	ch.Next = func(_ *watchcache.Object, old resource.Object) (resource.Object, error) {
		now, err := scaleOf(access, old)
		if err != nil {
			return nil, err
		}
		obj := old.DeepCopyObject().(resource.Object)
		asked, err := next(now, obj)
		if err != nil {
			return nil, err
		}
		if err := c.checkScale(asked, old); err != nil {
			return nil, err
		}
		if asked.ResourceVersion != "" {
			obj.SetResourceVersion(asked.ResourceVersion)
		}
		access.SetReplicas(obj, asked.Spec.Replicas)
		return obj, nil
	}
	w, _, err := c.Modify(c.Info.Name, ch)
	if err != nil {
		return err
	}
	return c.answerScale(access, w.obj)
}

// admitScale shows the plugins a Scale in place of the object that is scaled.
func (c *Operation) admitScale(ar *admission.Request, obj, old resource.Object) (resource.Object, error) {
	access := c.Endpoint.Strategy.Scale
	asked, err := scaleOf(access, obj)
	if err != nil {
		return nil, err
	}
	now, err := scaleOf(access, old)
	if err != nil {
		return nil, err
	}
	ar.Object, ar.Old = asked, now
	if err := c.w.Admission.Admit(c.Context, ar); err != nil {
		return nil, err
	}
	asked, ok := ar.Object.(*autoscalingv1.Scale)
	if !ok {
		return nil, fmt.Errorf("admission made a %T of a Scale", ar.Object)
	}
	if err := c.checkScale(asked, old); err != nil {
		return nil, err
	}
	access.SetReplicas(obj, asked.Spec.Replicas)
	return obj, c.w.Admission.Complete(c.Context, ar)
}

func (c *Operation) checkScale(asked *autoscalingv1.Scale, old resource.Object) error {
	if err := request.SettleNamespace(asked, c.Namespace()); err != nil {
		return err
	}
	if err := request.CheckName(asked, c.Info.Name); err != nil {
		return err
	}
	if asked.UID != "" && asked.UID != old.GetUID() {
		return c.uidConflict(asked.Name, asked.UID, old.GetUID())
	}
	if asked.Spec.Replicas == math.MinInt32 && c.Endpoint.Strategy.Scale.Path != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("the spec replicas field %q cannot be empty", "."+strings.Join(c.Endpoint.Strategy.Scale.Path, ".")))
	}
	if asked.Spec.Replicas < 0 && c.Endpoint.Strategy.Scale.Path == nil { // a custom kind's own rules say it
		return apierrors.NewInvalid(scaleKind.GroupKind(), asked.Name, field.ErrorList{
			field.Invalid(field.NewPath("spec", "replicas"), asked.Spec.Replicas, "must be greater than or equal to 0")})
	}
	return nil
}
