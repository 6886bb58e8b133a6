package podcontrol

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/client"
	"fairlead.dev/controller"
)

// Owners finds the objects of a controller's kind that a dependent, such as a pod, belongs to or could belong to.
type Owners[T client.Object] struct {
	Kind     schema.GroupVersionKind
	From     controller.Informed[T]
	Selector func(T) (labels.Selector, error)
}

// Of returns the object that controls the dependent. ok is false if the controller is of another kind, or gone.
func (o Owners[T]) Of(dependent client.Object) (owner T, ok bool) {
	ref := metav1.GetControllerOfNoCopy(dependent)
	if ref == nil || ref.Kind != o.Kind.Kind {
		return owner, false
	}
	if gv, err := schema.ParseGroupVersion(ref.APIVersion); err != nil || gv.Group != o.Kind.Group {
		return owner, false
	}
	owner, ok = o.From.Store().Get(dependent.GetNamespace(), ref.Name)
	return owner, ok && owner.GetUID() == ref.UID
}

// KeyOf returns the key of the object that controls the dependent.
func (o Owners[T]) KeyOf(dependent client.Object) (controller.Key, bool) {
	if owner, ok := o.Of(dependent); ok {
		return controller.KeyOf(owner), true
	}
	return controller.Key{}, false
}

// Adopters returns the keys of the objects that may adopt the dependent: if it has no controller, those whose selector
// matches its labels. Empty selectors match nothing.
func (o Owners[T]) Adopters(dependent client.Object) (keys []controller.Key) {
	if len(dependent.GetLabels()) == 0 || metav1.GetControllerOfNoCopy(dependent) != nil {
		return nil
	}
	for _, owner := range o.From.Store().List(dependent.GetNamespace()) {
		s, err := o.Selector(owner)
		if err == nil && !s.Empty() && s.Matches(labels.Set(dependent.GetLabels())) {
			keys = append(keys, controller.KeyOf(owner))
		}
	}
	return keys
}

// Fresh returns a function that reads the owner from the server, for Claim and history.Owner.
func Fresh[T client.Object](api client.Resource[T], owner T) func(context.Context) (metav1.Object, error) {
	return func(ctx context.Context) (metav1.Object, error) {
		return api.Namespace(owner.GetNamespace()).Get(ctx, owner.GetName())
	}
}
