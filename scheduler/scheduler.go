package scheduler

import (
	"context"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/controller"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/placement"
	"fairlead.dev/internal/scheduler/queue"
)

// A Scheduler assigns pods to nodes. Make it with New, start it with Run.
type Scheduler struct {
	options    Options
	pods       client.Resource[*corev1.Pod]
	objects    *objects
	mail       chan func()
	done       chan struct{} // closed when the loop no longer reads mail
	writes     chan func(context.Context)
	preBinding sync.WaitGroup // goroutines of preBind
	reports    *conditionWriter

	// Owned by the goroutine of Run.
	cluster  *cache.Cluster
	queue    *queue.Queue
	profiles map[string]*profile // read-only
	assumed  map[types.UID]*assumedPod
}

// profile is a Profile in use.
type profile struct {
	placement.Placer
	events *client.Recorder
}

// assumedPod is a pod that was given a node and whose binding is not confirmed yet.
type assumedPod struct {
	*queue.QueuedPodInfo
	node    string
	preBind []func(context.Context) error // to be called before the binding
	release []func()                      // to be called when the pod is bound, or will not be
	cancel  context.CancelFunc            // cancels preBind
}

// mailbox is the capacity of the mailbox, in messages.
const mailbox = 1024

// New returns a scheduler on env and asks env for the informers it needs.
func New(env controller.Env, o Options) *Scheduler {
	o = o.complete()
	s := &Scheduler{
		options:  o,
		pods:     client.For[*corev1.Pod](env.Client),
		objects:  newObjects(env.Client, env.Informers),
		mail:     make(chan func(), mailbox),
		done:     make(chan struct{}),
		writes:   make(chan func(context.Context), o.BindWorkers),
		queue:    queue.New(o.PodInitialBackoff, o.PodMaxBackoff),
		profiles: map[string]*profile{},
		assumed:  map[types.UID]*assumedPod{},
	}
	host, _ := os.Hostname()
	for _, p := range o.Profiles {
		s.profiles[p.Name] = &profile{placement.Placer{Profile: p}, env.Recorder.From(p.Name, p.Name+"-"+host)}
	}
	s.reports = newReports(s.pods)
	s.cluster = cache.NewCluster(s.objects)
	return s
}

// Run schedules until ctx ends, which is no error, and all its goroutines have ended. It may be
// called once.
func (s *Scheduler) Run(ctx context.Context) error {
	var workers sync.WaitGroup
	defer workers.Wait()
	defer s.preBinding.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer s.listen()()
	defer close(s.done)
	for range s.options.BindWorkers {
		workers.Go(func() { s.writeLoop(ctx) })
	}
	for range s.options.ReportWorkers {
		workers.Go(func() { s.reports.run(ctx) })
	}
	if !s.waitForSync(ctx) {
		return nil
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		if !s.readMail(ctx) {
			return nil
		}
		w, wake := s.queue.Pop(time.Now())
		if w != nil {
			s.schedule(ctx, w)
			continue
		}
		timer.Stop()
		var due <-chan time.Time
		if !wake.IsZero() {
			timer.Reset(time.Until(wake))
			due = timer.C
		}
		select {
		case <-ctx.Done():
			return nil
		case f := <-s.mail:
			f()
		case <-due:
		}
	}
}

// waitForSync reads mail until the cluster is complete. The messages that handlers have sent by
// then fit into the mailbox, so the loop reads them before it schedules a pod. It reports false if
// ctx ends.
func (s *Scheduler) waitForSync(ctx context.Context) bool {
	for _, synced := range s.objects.synced {
		for waits := true; waits; {
			select {
			case f := <-s.mail:
				f()
			case <-synced:
				waits = false
			case <-ctx.Done():
				return false
			}
		}
	}
	return true
}

// readMail handles the messages that have arrived. It reports false if ctx has ended.
func (s *Scheduler) readMail(ctx context.Context) bool {
	for range mailbox {
		select {
		case f := <-s.mail:
			f()
		default:
			return ctx.Err() == nil
		}
	}
	return ctx.Err() == nil
}

// send sends a message to the loop.
func (s *Scheduler) send(f func()) {
	select {
	case s.mail <- f:
	case <-s.done:
	}
}
