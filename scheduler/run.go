package scheduler

import (
	"context"
	"sync"
	"time"
)

// run implements Scheduler.Run.
func (s *loop) run(ctx context.Context) error {
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
	if s.groups.writer != nil {
		workers.Go(func() { s.groups.writer.run(ctx) })
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
		s.measure()
		if w != nil && w.Group != nil {
			s.scheduleGroup(ctx, w)
			continue
		}
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
		s.rests(wake)
		select {
		case <-ctx.Done():
			return nil
		case f := <-s.mail:
			s.resting.Store(nil)
			f()
		case <-due:
			s.resting.Store(nil)
		}
	}
}

// waitForSync reads mail until the cluster is complete. The messages that handlers have sent by
// then fit into the mailbox, so the loop reads them before it schedules a pod. It reports false if
// ctx ends.
func (s *loop) waitForSync(ctx context.Context) bool {
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
