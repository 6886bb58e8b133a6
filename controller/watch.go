package controller

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/informer"
)

// LowPriority is the priority of keys from an informer's first list. All others have 0.
const LowPriority = -100

// Watch enqueues the keys that keys returns for an object whenever the object is added, updated (for the old and
// the new state) or deleted. Objects in the informer's first list are enqueued at LowPriority, so that after a
// restart a change is not delayed by ten thousand unchanged objects. It must be called before Run.
func Watch[T client.Object](c *Controller, i *informer.Informer[T], keys func(T) []Key) {
	enqueue := func(obj T) {
		for _, k := range keys(obj) {
			c.EnqueueFor(k, obj)
		}
	}
	WatchFunc(c, i, informer.Handler[T]{
		Add: func(obj T, initial bool) {
			if !initial {
				enqueue(obj)
				return
			}
			for _, k := range keys(obj) {
				c.causes.add(k, obj, true)
				c.queue.AddPriority(k, LowPriority)
			}
		},
		Update: func(old, new T) {
			enqueue(new)
			for _, k := range keys(old) {
				c.EnqueueFor(k, new)
			}
		},
		Delete: enqueue,
	})
}

// WatchGroup is Watch for all informers of a group; keys is passed the name of the object's informer. A controller
// of several clusters has the name in its keys:
//
//	controller.WatchGroup(c, pods, controller.KeysInCluster(controller.Self[*corev1.Pod]))
//
// and its Reconcile finds the object by pods[k.Cluster].Store().Get(k.Namespace, k.Name).
func WatchGroup[T client.Object](c *Controller, g informer.Group[T], keys func(name string, obj T) []Key) {
	for name, i := range g {
		Watch(c, i, func(obj T) []Key { return keys(name, obj) })
	}
}

// KeysInCluster sets the cluster of the keys that keys returns to the object's cluster, unless they have one. It is
// used with WatchGroup.
func KeysInCluster[T client.Object](keys func(T) []Key) func(cluster string, obj T) []Key {
	return func(cluster string, obj T) []Key {
		named := slices.Clone(keys(obj)) // the slice may belong to keys
		for i := range named {
			named[i].Cluster = cmp.Or(named[i].Cluster, cluster)
		}
		return named
	}
}

// WatchFunc registers the controller's own handler, which may call Enqueue and EnqueueAfter. Run waits until the
// handler has received the first list, and removes it at the end. It must be called before Run.
func WatchFunc[T client.Object](c *Controller, i *informer.Informer[T], h informer.Handler[T]) *informer.Registration {
	if h.Name == "" {
		h.Name = c.name
	}
	if l := i.Trace(); l != nil && c.causes.log == nil { // not written after a handler may read it
		c.causes.log = l
		c.shown(l)
	}
	reg := i.Handle(h)
	c.mu.Lock()
	c.ownWrites.sources = append(c.ownWrites.sources, source{i.HasWrite, i.Store().WaitFor})
	c.mu.regs = append(c.mu.regs, reg)
	c.mu.Unlock()
	return reg
}

// KeyOf returns the key of an object.
func KeyOf(obj client.Object) Key {
	return Key{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

// Self returns the object's own key. It is used with Watch.
func Self[T client.Object](obj T) []Key { return []Key{KeyOf(obj)} }

// ControllerOf returns a function that returns the key of an object's controller, if it is of that kind. It is used
// with Watch:
//
//	controller.Watch(c, pods, controller.ControllerOf[*corev1.Pod]("ReplicaSet"))
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

// Labelled returns a function that returns the key named by a label of an object, in its namespace. It is used with
// Watch:
//
//	controller.Watch(c, slices, controller.Labelled[*discoveryv1.EndpointSlice](discoveryv1.LabelServiceName))
func Labelled[T client.Object](label string) func(T) []Key {
	return func(obj T) []Key {
		name, ok := obj.GetLabels()[label]
		if !ok || name == "" {
			return nil
		}
		return []Key{{Namespace: obj.GetNamespace(), Name: name}}
	}
}
