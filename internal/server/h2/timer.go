package h2

import "time"

// deadlineTimer is the connection's single timer. It is not reset for each write or request: it may fire early, find no
// deadline due, and be set for the next one.
type deadlineTimer struct {
	timer   *time.Timer
	at      time.Time // zero if not set
	stopped bool
	idle    time.Time // when the last stream ended; zero if there is a stream
	closing bool
}

func (t *deadlineTimer) stop() {
	t.stopped = true
	stop(t.timer)
}

// scheduleCheck schedules checkDeadlines for by at the latest.
func (c *conn) scheduleCheck(by time.Time) {
	t := &c.mu.timer
	if t.stopped || !t.at.IsZero() && !t.at.After(by) {
		return
	}
	t.at = by
	if t.timer == nil {
		t.timer = time.AfterFunc(time.Until(by), c.checkDeadlines)
		return
	}
	t.timer.Reset(time.Until(by))
}
