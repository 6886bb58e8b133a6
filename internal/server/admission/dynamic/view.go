package dynamic

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/admission"
)

// View is a request in the version of a target.
type View struct {
	Target      Target
	Kind        schema.GroupVersionKind
	Object, Old runtime.Object // of the Kind; may be nil
	request     *admission.Request
	texts       [2]json.RawMessage
}

// NewView converts the request's objects, for which it may call a conversion webhook, and sets their kinds. The request
// is not modified.
func NewView(ctx context.Context, r *admission.Request, t Target) (v *View, err error) {
	v = &View{Target: t, Kind: r.KindIn(t.Row, t.Version), request: r}
	if v.Object, err = v.from(ctx, r.Object); err != nil {
		return nil, err
	}
	v.Old, err = v.from(ctx, r.Old)
	return v, err
}

// from converts an object to the view's version.
func (v *View) from(ctx context.Context, obj runtime.Object) (runtime.Object, error) {
	if obj == nil {
		return nil, nil
	}
	if !v.request.OwnKind() {
		out, err := converted(ctx, obj, v.Target.Row.Custom, v.Target.Version)
		if version := v.Target.Row.Version(v.Target.Version); version != nil && version.FromStorage != nil {
			out, err = version.FromStorage(obj)
		}
		if err != nil {
			return nil, err
		}
		obj = out
	}
	obj.GetObjectKind().SetGroupVersionKind(v.Kind)
	return obj, nil
}

// converted returns an object of a custom kind in another version of the kind, and any other object as it is.
func converted(ctx context.Context, obj runtime.Object, kind resource.Custom, version string) (runtime.Object, error) {
	u, ok := obj.(*resource.Untyped)
	if !ok || kind == nil || u.GroupVersionKind().Version == version {
		return obj, nil
	}
	out, err := kind.ConvertTo(ctx, u.WithManagedFields(), version)
	if err != nil {
		return nil, err
	}
	return resource.NewUntyped(out), nil
}

// Put makes obj, in the view's version, the object of the request: it converts it to the storage version, one of a
// custom kind to that of the request, and applies defaults. The view must not be used afterwards.
func (v *View) Put(ctx context.Context, obj runtime.Object) error {
	r := v.request
	if !r.OwnKind() {
		out, err := converted(ctx, obj, r.Resource.Custom, r.Version)
		if version := v.Target.Row.Version(v.Target.Version); version != nil && version.ToStorage != nil {
			out, err = version.ToStorage(obj)
		}
		if err != nil {
			return err
		}
		obj = out
		if f := r.Resource.Strategy.Default; f != nil {
			f(obj)
		}
	}
	r.Object = obj
	return nil
}

// Empty returns a new object of the view's kind.
func (v *View) Empty() runtime.Object {
	return reflect.New(reflect.TypeOf(v.Object).Elem()).Interface().(runtime.Object)
}

// Text returns the object as JSON, encoded once.
func (v *View) Text() (json.RawMessage, error) { return v.text(0, v.Object) }

// OldText returns the old object as JSON, encoded once.
func (v *View) OldText() (json.RawMessage, error) { return v.text(1, v.Old) }

func (v *View) text(i int, obj runtime.Object) (json.RawMessage, error) {
	if obj == nil || v.texts[i] != nil {
		return v.texts[i], nil
	}
	text, err := json.Marshal(obj)
	v.texts[i] = text
	return text, err
}

// Request returns the AdmissionRequest, without its objects.
func (v *View) Request() (*admissionv1.AdmissionRequest, error) {
	r := v.request
	kind, gvr := r.Kind(), r.GVR()
	options, err := optionsOf(r.Options)
	if err != nil {
		return nil, err
	}
	return &admissionv1.AdmissionRequest{
		Kind: metav1.GroupVersionKind(v.Kind), Resource: metav1.GroupVersionResource(v.Target.GVR()), SubResource: r.Subresource,
		RequestKind: (*metav1.GroupVersionKind)(&kind), RequestResource: (*metav1.GroupVersionResource)(&gvr), RequestSubResource: r.Subresource,
		Name: r.Name, Namespace: r.Home(), Operation: admissionv1.Operation(r.Verb),
		UserInfo: userInfo(r), DryRun: &r.DryRun, Options: runtime.RawExtension{Object: options},
	}, nil
}

func userInfo(r *admission.Request) authenticationv1.UserInfo {
	u := authenticationv1.UserInfo{Username: r.User.Name, UID: r.User.UID, Groups: r.User.Groups}
	for k, list := range r.User.Extra {
		if u.Extra == nil {
			u.Extra = map[string]authenticationv1.ExtraValue{}
		}
		u.Extra[k] = list
	}
	return u
}

// optionsOf sets the kind of an options object, which is the same in every group.
func optionsOf(options runtime.Object) (runtime.Object, error) {
	kind := ""
	switch options.(type) {
	case nil:
		return nil, nil
	case *metav1.CreateOptions:
		kind = "CreateOptions"
	case *metav1.UpdateOptions:
		kind = "UpdateOptions"
	case *metav1.DeleteOptions:
		kind = "DeleteOptions"
	default:
		return nil, fmt.Errorf("a request has no options of type %T", options)
	}
	options = options.DeepCopyObject()
	options.GetObjectKind().SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind(kind))
	return options, nil
}
