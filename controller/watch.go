package controller

import (
	"slices"

	"fairlead.dev/client"
	"fairlead.dev/informer"
)

// LowPriority is the priority of keys from an informer's first list. All others have 0.
const LowPriority = -100

// Source is an informer that a controller follows: one of For, Owns, Watches, WatchesGroup, Handles and Reads.
type Source interface{ register(*Controller) }

// Watch adds sources, and returns the controller. Its handlers may be called at once; Run waits until they have
// received the informers' first lists, and removes them at the end. It must be called before Run.
func (c *Controller) Watch(sources ...Source) *Controller {
	for _, s := range sources {
		s.register(c)
	}
	return c
}

// Event is a change of an object.
type Event int

// The events of an informer.
const (
	Added Event = iota
	Updated
	Deleted
)

// Watching is a Source that enqueues keys for an informer's events: by default for all of them.
type Watching[T client.Object] struct {
	from    Informed[T]
	keys    func(T) []Key
	events  []Event // nil means all
	changed func(old, new T) bool
}

// For enqueues each object's own key.
func For[T client.Object](from Informed[T]) Watching[T] { return Watches(from, Self[T]) }

// Owns enqueues the key of each object's controller, if it is of that kind.
func Owns[T client.Object](from Informed[T], kind string) Watching[T] {
	return Watches(from, ControllerOf[T](kind))
}

// Watches enqueues the keys that keys returns for an object whenever the object is added, updated (for the new and
// the old state) or deleted. Objects in the informer's first list are enqueued at LowPriority, so that after a
// restart a change is not delayed by ten thousand unchanged objects.
func Watches[T client.Object](from Informed[T], keys func(T) []Key) Watching[T] {
	return Watching[T]{from: from, keys: keys}
}

// On restricts the source to some events.
func (w Watching[T]) On(events ...Event) Watching[T] {
	w.events = events
	return w
}

// If restricts updates to those for which changed returns true.
func (w Watching[T]) If(changed func(old, new T) bool) Watching[T] {
	w.changed = changed
	return w
}

func (w Watching[T]) register(c *Controller) {
	enqueue := func(obj T) {
		for _, k := range w.keys(obj) {
			c.EnqueueFor(k, obj)
		}
	}
	h := informer.Handler[T]{Delete: enqueue}
	h.Add = func(obj T, initial bool) {
		if !initial {
			enqueue(obj)
			return
		}
		for _, k := range w.keys(obj) {
			c.causes.add(k, obj, true, 0, func() { c.queue.AddPriority(k, LowPriority) })
		}
	}
	h.Update = func(old, new T) {
		if w.changed != nil && !w.changed(old, new) {
			return
		}
		enqueue(new)
		for _, k := range w.keys(old) {
			c.EnqueueFor(k, new)
		}
	}
	if w.events != nil {
		if !slices.Contains(w.events, Added) {
			h.Add = nil
		}
		if !slices.Contains(w.events, Updated) {
			h.Update = nil
		}
		if !slices.Contains(w.events, Deleted) {
			h.Delete = nil
		}
	}
	Handles(w.from, h).register(c)
}

// handling is the Source of Handles.
type handling[T client.Object] struct {
	from Informed[T]
	h    informer.Handler[T]
}

// Handles calls a handler of the controller's own, which may call EnqueueFor, EnqueueForAfter and the like.
func Handles[T client.Object](from Informed[T], h informer.Handler[T]) Source {
	return handling[T]{from, h}
}

// Reads enqueues nothing, for an informer whose store the controller reads: Run waits for its first list, and each
// reconcile for the key's own writes to it.
func Reads[T client.Object](from Informed[T]) Source { return handling[T]{from: from} }

func (s handling[T]) register(c *Controller) {
	if s.h.Name == "" {
		s.h.Name = c.name
	}
	if l := s.from.Trace(); l != nil && c.causes.log == nil { // not written after a handler may read it
		c.causes.log = l
		c.shown(l)
	}
	reg := s.from.Handle(s.h)
	c.mu.Lock()
	c.ownWrites.sources = append(c.ownWrites.sources, source{s.from.HasWrite, s.from.Store().WaitFor})
	c.mu.regs = append(c.mu.regs, reg)
	c.mu.Unlock()
}

// several is the Source of WatchesGroup.
type several []Source

func (s several) register(c *Controller) { c.Watch(s...) }

// WatchesGroup is Watches for all informers of a group; keys is passed the name of the object's informer. A
// controller of several clusters has the name in its keys:
//
//	controller.WatchesGroup(pods, controller.KeysInCluster(controller.Self[*corev1.Pod]))
//
// and its Reconcile finds the object by pods[k.Cluster].Store().Get(k.Namespace, k.Name).
func WatchesGroup[T client.Object](g informer.Group[T], keys func(name string, obj T) []Key) Source {
	var all several
	for name, i := range g {
		all = append(all, Watches(i, func(obj T) []Key { return keys(name, obj) }))
	}
	return all
}
