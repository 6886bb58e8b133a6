package schedulerplugins

import (
	"context"
	"io"
	"log/slog"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"

	"fairlead.dev/scheduler"
)

// recorder is the event recorder of a profile's plugins.
type recorder = events.EventRecorderLogger

// registry has the plugins of all profiles, and their clients and informers.
type registry struct {
	factories map[string]Factory
	scheme    *runtime.Scheme // of arguments; may be nil
	ctx       context.Context
	log       *slog.Logger
	config    *rest.Config
	clients   kubernetes.Interface
	informers informers.SharedInformerFactory
	custom    dynamicinformer.DynamicSharedInformerFactory
	broadcast events.EventBroadcaster

	waiting    waitingPods
	preBinding preBinding
	lister     *lister
	pods       *follower // nil if plugins do not use the shared informer of pods
	nodes      *follower
	attached   atomic.Pointer[scheduler.Attachment] // nil until the scheduler is made
	// hasExtenders: the configuration has extenders.
	hasExtenders bool
	less         func(a, b *scheduler.QueuedPodInfo) bool
	all          []*plugin
	closers      []io.Closer
}

// newRegistry returns a registry whose clients use config. ctx ends its plugins.
func newRegistry(ctx context.Context, config *rest.Config, with *options) (*registry, error) {
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	custom, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	r := &registry{
		factories: with.factories, scheme: with.scheme, ctx: ctx, log: slog.Default().With("component", "schedulerplugins"), config: config, clients: clients,
		informers:  informers.NewSharedInformerFactory(clients, 0),
		custom:     dynamicinformer.NewDynamicSharedInformerFactory(custom, 0),
		broadcast:  events.NewBroadcaster(&events.EventSinkImpl{Interface: clients.EventsV1()}),
		waiting:    waitingPods{newByPod[*waitingPod]()},
		preBinding: preBinding{newByPod[*podInPreBind]()},
	}
	r.lister = &lister{registry: r}
	return r, nil
}

func (r *registry) recorderOf(profile string) recorder {
	return r.broadcast.NewRecorder(scheme.Scheme, profile)
}

// attach connects the plugins with the scheduler.
func (r *registry) attach(a scheduler.Attachment) {
	r.attached.Store(&a)
	a.Observe(r.watched)
	a.Do(func(c *scheduler.Cluster) { r.lister.cluster = c })
}

// attachment returns the hold on the scheduler, nil until the scheduler is made.
func (r *registry) attachment() scheduler.Attachment {
	if a := r.attached.Load(); a != nil {
		return *a
	}
	return nil
}

// start starts the informers that plugins use, and waits until they have their objects.
func (r *registry) start() error {
	if err := r.listen(); err != nil {
		return err
	}
	if err := r.broadcast.StartRecordingToSinkWithContext(r.ctx); err != nil {
		return err
	}
	r.informers.Start(r.ctx.Done())
	r.custom.Start(r.ctx.Done())
	used := r.informers.WaitForCacheSync(r.ctx.Done())
	r.custom.WaitForCacheSync(r.ctx.Done())
	if err := r.listenAgain(used); err != nil {
		return err
	}
	return r.ctx.Err()
}

// stop ends what start has started, once the context has ended.
func (r *registry) stop() {
	r.broadcast.Shutdown()
	r.informers.Shutdown()
	r.custom.Shutdown()
	for _, c := range r.closers {
		if err := c.Close(); err != nil {
			r.log.Error("plugin failed to close", "error", err)
		}
	}
}
