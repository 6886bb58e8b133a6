package podcontrol

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/controller"
)

// byOwner is the index of objects by the UID of their controlling owner, or by
// namespace for those without one.
const byOwner = "controller"

// Owned are objects with the index that finds those that a controller owns, and those it could adopt, without a walk
// over the rest.
type Owned[T client.Object] struct{ controller.Objects[T] }

// OwnedOf returns the objects of a type with the owner index on their informer.
func OwnedOf[T client.Object](env controller.Env) Owned[T] {
	o := controller.ObjectsOf[T](env)
	o.Index(byOwner, ownerKeys[T])
	return Owned[T]{o}
}

// By returns the objects whose controlling owner has the UID.
func (o Owned[T]) By(uid types.UID) []T { return o.Store().ByIndex(byOwner, string(uid)) }

// Orphans returns the objects of the namespace without a controlling owner.
func (o Owned[T]) Orphans(namespace string) []T {
	return o.Store().ByIndex(byOwner, orphanKey(namespace))
}

// orphanKey returns an index key that cannot be a UID: those contain no slash.
func orphanKey(namespace string) string { return "orphans/" + namespace }

func ownerKeys[T client.Object](o T) []string {
	if ref := metav1.GetControllerOfNoCopy(o); ref != nil {
		return []string{string(ref.UID)}
	}
	return []string{orphanKey(o.GetNamespace())}
}

// Active keeps the active pods, in a slice of its own.
func Active(pods []*corev1.Pod) []*corev1.Pod { return filter(pods, IsActive) }

// Terminating returns the terminating pods that are not finished.
func Terminating(pods []*corev1.Pod) []*corev1.Pod { return filter(pods, IsTerminating) }

func filter(pods []*corev1.Pod, keep func(*corev1.Pod) bool) []*corev1.Pod {
	var out []*corev1.Pod
	for i, p := range pods {
		if keep(p) {
			if out == nil {
				out = make([]*corev1.Pod, 0, len(pods)-i)
			}
			out = append(out, p)
		}
	}
	return out
}
