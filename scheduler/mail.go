package scheduler

import "context"

// send sends a message to the loop.
func (s *loop) send(f func()) {
	select {
	case s.mail <- f:
	case <-s.done:
	}
}

// readMail handles the messages that have arrived. It reports false if ctx has ended.
func (s *loop) readMail(ctx context.Context) bool {
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

// write sends a write to a worker. While all workers are busy it reads mail.
func (s *loop) write(ctx context.Context, f func(context.Context)) {
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

// writeLoop is the goroutine of a worker: it runs the writes that it receives, until ctx ends.
func (s *loop) writeLoop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case f := <-s.writes:
			f(ctx)
		}
	}
}
