package scheduler

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/controller"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
	"fairlead.dev/internal/scheduler/metrics"
	"fairlead.dev/internal/scheduler/placement"
	"fairlead.dev/internal/scheduler/plugins"
	"fairlead.dev/internal/scheduler/queue"
)

// A Scheduler assigns pods to nodes. Make it with New, start it with Run.
type Scheduler struct{ run func(context.Context) error }

// New returns a scheduler on env and asks env for the informers it needs.
//
//go:noinline
func New(env controller.Env, o Options) *Scheduler { return &Scheduler{newLoop(env, o).run} }

// Run schedules until ctx ends, which is no error, and all its goroutines have ended. It may be
// called once.
func (s *Scheduler) Run(ctx context.Context) error { return s.run(ctx) }

// loop is a running Scheduler. Scheduler has no field of this type, and New is not inlined, because a package compiles the methods
// of all generic types that it reaches by the fields of the types it mentions.
type loop struct {
	options    Options
	log        *slog.Logger
	metrics    *metrics.Metrics
	pods       client.Resource[*corev1.Pod]
	objects    *objects
	mail       chan func()
	done       chan struct{} // closed when the loop no longer reads mail
	writes     chan func(context.Context)
	preBinding sync.WaitGroup // goroutines of preBind
	reports    *conditionWriter
	observe    func(old, o client.Object) // see Attachment.Observe
	resting    atomic.Pointer[resting]    // nil while the loop works

	// Owned by the goroutine of Run.
	cluster  *cache.Cluster
	queue    *queue.Queue
	profiles map[string]*profile // read-only
	assumed  map[types.UID]*assumedPod
	asking   asking
	groups   podGroups
}

// profile is a Profile in use.
type profile struct {
	placement.Placer
	preEnqueuers []framework.PreEnqueuer
	events       *client.Recorder
}

// mailbox is the capacity of the mailbox, in messages.
const mailbox = 1024

func newLoop(env controller.Env, o Options) *loop {
	o = o.complete()
	s := &loop{
		options:  o,
		log:      cmp.Or(env.Log, slog.Default()),
		metrics:  o.Metrics.counts,
		pods:     client.For[*corev1.Pod](env.Client),
		objects:  newObjects(env.Client, env.Informers, o),
		mail:     make(chan func(), mailbox),
		done:     make(chan struct{}),
		writes:   make(chan func(context.Context), o.BindWorkers),
		queue:    queue.New(o.PodInitialBackoff, o.PodMaxBackoff),
		profiles: map[string]*profile{},
		assumed:  map[types.UID]*assumedPod{},
	}
	s.queue.Metrics = s.metrics
	for _, note := range o.Notes {
		s.log.Warn(note)
	}
	host, _ := os.Hostname()
	for _, p := range o.Profiles {
		if s.objects.groups != nil {
			p.Filters = slices.DeleteFunc(slices.Clone(p.Filters), func(f framework.Filter) bool { return f.Name() == plugins.Unsupported })
		}
		if len(o.Extenders) > 0 {
			p.Filters = append(slices.Clone(p.Filters), &s.asking.plugin)
			p.Scores = append(slices.Clone(p.Scores), framework.WeightedScore{Score: &s.asking.plugin, Weight: 1})
		}
		made := &profile{Placer: placement.Placer{Profile: p, Metrics: s.metrics.Profile(p.Name)}, events: env.Recorder.From(p.Name, p.Name+"-"+host)}
		for _, f := range p.Filters {
			if e, ok := f.(framework.PreEnqueuer); ok {
				made.preEnqueuers = append(made.preEnqueuers, e)
			}
		}
		s.profiles[p.Name] = made
	}
	s.reports = newReports(s.pods, s.metrics)
	s.cluster = cache.NewCluster(s.objects)
	s.queue.PreEnqueue = s.preEnqueue
	if o.Less != nil {
		s.queue.Sort(o.Less)
	}
	s.modelDevices(env)
	s.modelGroups(env.Client)
	env.Client.Trace().RegisterQueue("scheduler", s.state)
	if o.Attach != nil {
		o.Attach(attachment{s})
	}
	return s
}

// preEnqueue returns the filter of a pod's profile that does not let it be tried; nil if all do.
func (s *loop) preEnqueue(p *cache.PodInfo) framework.Filter {
	for _, f := range s.profiles[p.Pod.Spec.SchedulerName].preEnqueuers {
		if !f.PreEnqueue(s.cluster, p) {
			return f
		}
	}
	return nil
}

// profileOf returns the profile that the pod names.
func (s *loop) profileOf(w *queue.QueuedPodInfo) *profile {
	return s.profiles[w.PodInfo.Pod.Spec.SchedulerName]
}
