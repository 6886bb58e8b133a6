package informer

import (
	"context"
	"reflect"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/client"
)

// Set shares informers: one per type, of all namespaces or Within one, without selectors. Many
// controllers in a process take theirs from one Set, by In, and each object is kept
// once. The objects of its informers have no managedFields; an Update or a patch made
// from one leaves those on the server as they are.
type Set struct {
	c  *client.Client
	ns string
	// watchTimeout is that of the informers' Options.
	watchTimeout time.Duration
	mu           struct {
		sync.Mutex
		members map[any]*member // by reflect.Type, or view
		run     context.Context // nil before Start
		cancel  context.CancelFunc
		running sync.WaitGroup
	}
}

// member is an informer whose type the Set does not know.
type member struct {
	informer prometheus.Collector // an *Informer[T]
	run      func(context.Context) error
	synced   <-chan struct{}
	cancel   context.CancelFunc // nil until it runs
}

// view is the key of an informer that is not of a Go type of its own.
type view struct {
	gvr      schema.GroupVersionResource
	metadata bool
}

// NewSet returns an empty set.
func NewSet(c *client.Client) *Set {
	s := &Set{c: c}
	s.mu.members = map[any]*member{}
	return s
}

// Within narrows the set to one namespace, for users that may not see the others, and
// returns the set. Cluster-scoped resources are not affected. Call it before For.
func (s *Set) Within(namespace string) *Set {
	s.ns = namespace
	return s
}

// WithWatchTimeout sets Options.WatchTimeout of the set's informers, and returns the set. Call
// it before For.
func (s *Set) WithWatchTimeout(d time.Duration) *Set {
	s.watchTimeout = d
	return s
}

// Client returns the client that the informers use.
func (s *Set) Client() *client.Client { return s.c }

// For returns the set's informer of a type, which it makes when first asked.
func For[T client.Object](s *Set) *Informer[T] {
	return memberOf(s, reflect.TypeFor[T](), func() client.Resource[T] { return client.For[T](s.c) })
}

// Metadata is In for the metadata of any resource.
func Metadata(s *Set, gvr schema.GroupVersionResource, namespaced bool) *Informer[*metav1.PartialObjectMetadata] {
	return memberOf(s, view{gvr, true}, func() client.Resource[*metav1.PartialObjectMetadata] {
		return client.Metadata(s.c, gvr, namespaced)
	})
}

// Dynamic is In for any resource as unstructured objects.
func Dynamic(s *Set, gvr schema.GroupVersionResource, namespaced bool) *Informer[*unstructured.Unstructured] {
	return memberOf(s, view{gvr, false}, func() client.Resource[*unstructured.Unstructured] {
		return client.Dynamic(s.c, gvr, namespaced)
	})
}

func memberOf[T client.Object](s *Set, k any, resource func() client.Resource[T]) *Informer[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.mu.members[k]; m != nil {
		return m.informer.(*Informer[T])
	}
	i := New(resource().WithoutManagedFields(), Options[T]{Namespace: s.ns, WatchTimeout: s.watchTimeout})
	m := &member{informer: i, run: i.Run, synced: i.Synced()}
	s.mu.members[k] = m
	if s.mu.run != nil {
		s.start(m)
	}
	return i
}

// start runs a member; s.mu is held.
func (s *Set) start(m *member) {
	ctx, cancel := context.WithCancel(s.mu.run)
	m.cancel = cancel
	s.mu.running.Go(func() { m.run(ctx) })
}

// Start runs the informers of the set, those made later too, until ctx ends or Stop.
// It does not block. A set starts once.
func (s *Set) Start(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.run != nil {
		return
	}
	s.mu.run, s.mu.cancel = context.WithCancel(ctx)
	for _, m := range s.mu.members {
		s.start(m)
	}
}

// Wait waits until all informers made so far are synced. It returns ctx's error if that
// ends before.
func (s *Set) Wait(ctx context.Context) error {
	s.mu.Lock()
	var waits []<-chan struct{}
	for _, m := range s.mu.members {
		waits = append(waits, m.synced)
	}
	s.mu.Unlock()
	for _, w := range waits {
		select {
		case <-w:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Remove stops the metadata and dynamic informers of a resource and forgets them: for
// resources that the server no longer has.
func (s *Set) Remove(gvr schema.GroupVersionResource) {
	s.remove(view{gvr, true}, view{gvr, false})
}

// Remove stops the set's informer of a type and removes it. Other holders of the informer
// keep its store, which no longer changes, and its handlers are not called any more. The
// set's other informers keep running.
func Remove[T client.Object](s *Set) { s.remove(reflect.TypeFor[T]()) }

func (s *Set) remove(keys ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range keys {
		if m := s.mu.members[k]; m != nil {
			if m.cancel != nil {
				m.cancel()
			}
			delete(s.mu.members, k)
		}
	}
}

// Stop ends the informers and waits for them and their handlers.
func (s *Set) Stop() {
	s.mu.Lock()
	if s.mu.cancel != nil {
		s.mu.cancel()
	}
	s.mu.Unlock()
	s.mu.running.Wait()
}
