package controller

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
)

// Key names the object to reconcile. Namespace is "" for cluster-scoped objects; Cluster is set by controllers of
// several clusters, see WatchesGroup.
type Key struct{ Cluster, Namespace, Name string }

// String returns the key as cluster:namespace/name, without empty parts.
func (k Key) String() string {
	s := k.Name
	if k.Namespace != "" {
		s = k.Namespace + "/" + s
	}
	if k.Cluster != "" {
		s = k.Cluster + ":" + s
	}
	return s
}

// KeyOf returns the key of an object.
func KeyOf(obj client.Object) Key {
	return Key{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

// Self returns the object's own key. It is the mapping of For.
func Self[T client.Object](obj T) []Key { return []Key{KeyOf(obj)} }

// ControllerOf returns a function that returns the key of an object's controller, if it is of that kind. It is the
// mapping of Owns.
func ControllerOf[T client.Object](kind string) func(T) []Key {
	return func(obj T) []Key {
		ref := metav1.GetControllerOfNoCopy(obj)
		if ref == nil || ref.Kind != kind {
			return nil
		}
		return []Key{{Namespace: obj.GetNamespace(), Name: ref.Name}}
	}
}

// OwnersOf is ControllerOf for all owners of that kind, whether or not they are controllers.
func OwnersOf[T client.Object](kind string) func(T) []Key {
	return func(obj T) (keys []Key) {
		for _, ref := range obj.GetOwnerReferences() {
			if ref.Kind == kind {
				keys = append(keys, Key{Namespace: obj.GetNamespace(), Name: ref.Name})
			}
		}
		return keys
	}
}

// Labelled returns a function that returns the key named by a label of an object, in its namespace:
//
//	controller.Watches(slices, controller.Labelled[*discoveryv1.EndpointSlice](discoveryv1.LabelServiceName))
func Labelled[T client.Object](label string) func(T) []Key {
	return func(obj T) []Key {
		name, ok := obj.GetLabels()[label]
		if !ok || name == "" {
			return nil
		}
		return []Key{{Namespace: obj.GetNamespace(), Name: name}}
	}
}

// KeysInCluster sets the cluster of the keys that keys returns to the object's cluster, unless they have one. It is
// used with WatchesGroup.
func KeysInCluster[T client.Object](keys func(T) []Key) func(cluster string, obj T) []Key {
	return func(cluster string, obj T) []Key {
		named := slices.Clone(keys(obj)) // the slice may belong to keys
		for i := range named {
			named[i].Cluster = cmp.Or(named[i].Cluster, cluster)
		}
		return named
	}
}
