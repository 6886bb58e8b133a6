package garbagecollector

import (
	"cmp"
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"golang.org/x/sync/errgroup"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/internal/controllers/podcontrol"
)

const (
	workers = 20
	// again is the pause before an owner claimed under another identity is checked.
	again = 20 * time.Millisecond
	// A virtual owner that exists is checked again after pauses between these: it may be deleted before an informer
	// shows it, or be of a kind without an informer.
	firstWait, maxWait = 100 * time.Millisecond, 10 * time.Minute
)

// The two kinds of work on an object; the key's name is the object's UID.
const (
	workCheck  = ""
	workOrphan = "orphan"
)

type collector struct {
	env    controller.Env
	graph  *graph
	absent absences
	watch  monitors
	rec    *client.Recorder
	waits  podcontrol.Backoff
	// rediscover is that of the Options.
	rediscover time.Duration
	loop       *controller.Controller
}

// Options of the garbage collector.
type Options struct {
	// Rediscover is how long the set of resources counts without an event: the server may have been replaced by a
	// newer one. Zero means 5 minutes.
	Rediscover time.Duration
}

// New returns the garbage collector. It declares no sources by Watch: it follows all resources, which come and go while
// it runs.
func New(env controller.Env, o Options) controller.Runner {
	c := &collector{env: env, rediscover: cmp.Or(o.Rediscover, 5*time.Minute), graph: newGraph(), rec: env.Recorder.From("garbage-collector-controller", ""), waits: podcontrol.Backoff{First: firstWait, Max: maxWait}}
	c.watch.init(c)
	c.loop = controller.New("garbagecollector", c.reconcile, controller.Options{Workers: workers, Trace: env.Client.Trace()})
	return c
}

// Run follows all resources until ctx ends.
func (c *collector) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return c.watch.run(ctx) })
	g.Go(func() error {
		select {
		case <-c.watch.ready:
		case <-ctx.Done():
			return nil
		}
		return c.loop.Run(ctx)
	})
	return g.Wait()
}

// carryOut enqueues the work that a change of the graph requires. ask enqueues a key after a time, with its cause:
// an event or a reconcile.
func (c *collector) carryOut(e effects, ask func(controller.Key, time.Duration)) {
	for _, id := range e.absent {
		c.absent.add(id)
	}
	for _, uid := range e.check {
		ask(controller.Key{Namespace: workCheck, Name: string(uid)}, 0)
	}
	for _, uid := range e.later {
		ask(controller.Key{Namespace: workCheck, Name: string(uid)}, again)
	}
	for _, uid := range e.orphan {
		ask(controller.Key{Namespace: workOrphan, Name: string(uid)}, 0)
	}
	for _, m := range e.misplaced {
		o := &metav1.PartialObjectMetadata{
			TypeMeta:   metav1.TypeMeta{APIVersion: m.by.apiVersion, Kind: m.by.kind},
			ObjectMeta: metav1.ObjectMeta{Namespace: m.by.namespace, Name: m.by.name, UID: m.by.uid},
		}
		c.rec.Event(o, corev1.EventTypeWarning, "OwnerRefInvalidNamespace",
			"ownerRef %s does not exist in namespace %q", m.owner, m.by.namespace)
	}
}

// because enqueues work caused by the event of an object.
func (c *collector) because(o client.Object) func(controller.Key, time.Duration) {
	return func(k controller.Key, d time.Duration) { c.loop.EnqueueForAfter(k, o, d) }
}

// from enqueues work caused by a reconcile.
func (c *collector) from(ctx context.Context) func(controller.Key, time.Duration) {
	return func(k controller.Key, d time.Duration) { c.loop.EnqueueFromAfter(ctx, k, d) }
}

func (c *collector) reconcile(ctx context.Context, k controller.Key) (controller.Result, error) {
	uid := types.UID(k.Name)
	n, ok := c.graph.look(uid)
	if !ok {
		return controller.Result{}, nil
	}
	if k.Namespace == workOrphan {
		return controller.Result{}, c.orphanDependents(ctx, n)
	}
	switch err := c.check(ctx, n); {
	case errors.Is(err, errDisproved), errors.Is(err, errNamespacedOwner):
		c.waits.Forget(k)
		return controller.Result{}, nil
	case err != nil:
		return controller.Result{}, err
	}
	if n.virtual {
		if now, ok := c.graph.look(uid); ok && now.virtual {
			return controller.Result{RequeueAfter: c.waits.Next(k)}, nil
		}
		c.waits.Forget(k)
	}
	return controller.Result{}, nil
}
