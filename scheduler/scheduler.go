package scheduler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/controller"
)

// Scheduler places pods. Make it with New, start it with Run.
type Scheduler struct {
	options Options
	events  *client.Recorder
	pods    client.Resource[*corev1.Pod]
	objects *objects
	mail    chan func()
	done    chan struct{} // closed when nobody reads mail any more
	writes  chan func(context.Context)
	reports *reports

	// Of the goroutine Run.
	cluster *Cluster
	queue   *queue
	placer  placer
	assumed map[types.UID]*placement
}

// placement is a pod that was given a node and whose binding is not confirmed yet.
type placement struct {
	*waiting
	node string
}

// mailbox is how many messages wait for the loop before senders do.
const mailbox = 1024

// New returns a scheduler on env and asks env for the informers it needs.
func New(env controller.Env, o Options) *Scheduler {
	o = o.complete()
	s := &Scheduler{
		options: o,
		events:  env.Recorder.From(o.Name, ""),
		pods:    client.For[*corev1.Pod](env.Client),
		objects: newObjects(env.Informers),
		mail:    make(chan func(), mailbox),
		done:    make(chan struct{}),
		writes:  make(chan func(context.Context), o.BindWorkers),
		queue:   newQueue(),
		placer:  placer{Profile: o.Profile},
		assumed: map[types.UID]*placement{},
	}
	s.reports = newReports(s.pods)
	s.cluster = NewCluster(s.objects)
	return s
}

// Run schedules until ctx ends, which is no error, and all its goroutines have. It may
// be called once.
func (s *Scheduler) Run(ctx context.Context) error {
	var workers sync.WaitGroup
	defer workers.Wait()
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
	if err := s.untilSynced(ctx); err != nil {
		return nil //nolint:nilerr // ctx ended
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		if !s.readMail(ctx) {
			return nil
		}
		w, wake := s.queue.pop(time.Now())
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

// untilSynced reads mail until the picture of the cluster is whole. What the handlers
// have sent by then fits into the mailbox, so the loop reads it before it places a pod.
func (s *Scheduler) untilSynced(ctx context.Context) error {
	for _, synced := range s.objects.synced {
		for waits := true; waits; {
			select {
			case f := <-s.mail:
				f()
			case <-synced:
				waits = false
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

// readMail handles what has arrived. It reports whether ctx goes on.
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

// tell leaves a message for the loop.
func (s *Scheduler) tell(f func()) {
	select {
	case s.mail <- f:
	case <-s.done:
	}
}

// schedule gives one pod a node, or puts it back.
func (s *Scheduler) schedule(ctx context.Context, w *waiting) {
	n, err := s.placer.place(s.cluster, w.info)
	if err != nil {
		s.unplaced(ctx, w, err)
		return
	}
	p := &placement{w, n.name}
	s.withdraw(w)
	s.assumed[w.info.Pod.UID] = p
	s.cluster.AddPod(w.info, n.name)
	s.queue.happened(&Event{Kind: PodAdded, Node: n, Pod: w.info}, time.Now())
	s.write(ctx, func(ctx context.Context) { s.bind(ctx, p) })
}

// write has a worker write something. While it waits for one it reads mail.
func (s *Scheduler) write(ctx context.Context, f func(context.Context)) {
	for {
		select {
		case s.writes <- f:
			return
		case f := <-s.mail:
			f()
		case <-ctx.Done():
			return
		}
	}
}

// unplaced parks a pod that fits nowhere and says why; or it makes room for it.
func (s *Scheduler) unplaced(ctx context.Context, w *waiting, err error) {
	var fit *FitError
	if !errors.As(err, &fit) {
		s.failed(w, err)
		return
	}
	var room *eviction
	if !s.options.NoPreemption && fit.Nodes > 0 {
		room = s.placer.makeRoom(s.cluster, w.info, fit)
	}
	waits := room == nil && s.cluster.mayPreempt(w.info) != "" && w.nominee != "" // for its victims
	if room != nil {
		w.nominee = room.node.name
		s.cluster.Nominate(w.info, w.nominee)
	} else if !waits {
		s.withdraw(w)
	}
	s.queue.park(w, fit.By, time.Now())
	s.report(w, corev1.PodReasonUnschedulable, fit.Error())
	if room != nil {
		s.write(ctx, func(ctx context.Context) { s.evict(ctx, w.info.Pod, room) })
	}
}

// withdraw ends a pod's nomination.
func (s *Scheduler) withdraw(w *waiting) {
	w.nominee = ""
	s.cluster.Withdraw(w.info.Pod.UID)
}

// failed puts a pod back that met an error.
func (s *Scheduler) failed(w *waiting, err error) {
	s.queue.retry(w, time.Now())
	s.report(w, corev1.PodReasonSchedulerError, err.Error())
}

func (s *Scheduler) report(w *waiting, reason, message string) {
	s.events.Event(w.info.Pod, corev1.EventTypeWarning, "FailedScheduling", "%s", message)
	s.reports.add(w.info.Pod, reason, message, w.nominee)
}

// unbound takes back a placement whose binding failed.
func (s *Scheduler) unbound(p *placement, err error) {
	uid := p.info.Pod.UID
	if s.assumed[uid] != p {
		return // confirmed, or deleted, meanwhile
	}
	delete(s.assumed, uid)
	_, n := s.cluster.RemovePod(uid)
	if n != nil {
		s.queue.happened(&Event{Kind: PodRemoved, Node: n, Pod: p.info}, time.Now())
	}
	if apierrors.IsNotFound(err) {
		return // the watch tells the same
	}
	if p.latest != nil {
		p.info, p.latest = p.latest, nil
	}
	if apierrors.IsConflict(err) {
		s.queue.retry(p.waiting, time.Now()) // it may be bound already; the watch will tell
		return
	}
	s.failed(p.waiting, fmt.Errorf("binding to %s: %w", p.node, err))
}
