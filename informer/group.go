package informer

import (
	"context"

	"fairlead.dev/client"
)

// Group is several informers of one type by name: of several namespaces of a server, or of
// several servers. Each has its own store and watch, so a server that does not answer
// delays only its own informers.
//
//	pods := informer.NewNamespaceGroup(client.For[*corev1.Pod](c), informer.Options[*corev1.Pod]{}, "red", "blue")
//	pods := informer.Group[*corev1.Pod]{
//		"east": informer.New(client.For[*corev1.Pod](east), informer.Options[*corev1.Pod]{}),
//		"west": informer.New(client.For[*corev1.Pod](west), informer.Options[*corev1.Pod]{}),
//	}
//
// Its methods may be called from any goroutine, as long as the map is not changed.
type Group[T client.Object] map[string]*Informer[T]

// NewNamespaceGroup returns a group with an informer for each namespace, by its name, for
// users that may not, or need not, see all namespaces. o.Namespace is ignored.
func NewNamespaceGroup[T client.Object](r client.Resource[T], o Options[T], namespaces ...string) Group[T] {
	g := Group[T]{}
	for _, ns := range namespaces {
		o.Namespace = ns
		g[ns] = New(r, o)
	}
	return g
}

// Run runs the informers until ctx ends and all have ended. It returns an error, and
// ends the others, if one of them has run before.
func (g Group[T]) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	results := make(chan error, len(g))
	for _, i := range g {
		go func() { results <- i.Run(ctx) }()
	}
	var first error
	for range g {
		if err := <-results; err != nil && first == nil {
			first = err
			stop()
		}
	}
	return first
}

// Wait waits until all informers are synced. It returns ctx's error if that ends before;
// each informer's Synced shows whether it is the missing one.
func (g Group[T]) Wait(ctx context.Context) error {
	for _, i := range g {
		select {
		case <-i.Synced():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Handle registers a handler with each informer: the one that h returns for its name.
// They are called at the same time, in no order between them.
func (g Group[T]) Handle(h func(name string) Handler[T]) map[string]*Registration {
	regs := map[string]*Registration{}
	for name, i := range g {
		regs[name] = i.Handle(h(name))
	}
	return regs
}

// List returns the objects of all stores, in no order.
func (g Group[T]) List() (all []T) {
	for _, i := range g {
		all = append(all, i.Store().List("")...)
	}
	return all
}

// ByIndex returns the objects that an index, which all informers have, holds under a
// value in any store.
func (g Group[T]) ByIndex(index, value string) (all []T) {
	for _, i := range g {
		all = append(all, i.Store().ByIndex(index, value)...)
	}
	return all
}
