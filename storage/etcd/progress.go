package etcd

import (
	"context"
	"time"

	"fairlead.dev/storage"
)

// firstAsk and lastAsk are the first and the longest pause between two requests for progress. The
// cluster does not answer a request while the watch is behind.
const (
	firstAsk = 5 * time.Millisecond
	lastAsk  = 100 * time.Millisecond
)

// A progressRequester requests progress while a revision is wanted, at growing intervals.
type progressRequester struct {
	cursor *cursor
	ctx    context.Context
	timer  *time.Timer
	pause  time.Duration
	// since is when the member was last not behind, at progress.
	since    time.Time
	progress storage.Revision
}

// requestNow requests progress immediately if a revision is wanted and no request is due.
func (a *progressRequester) requestNow() {
	if a.timer == nil {
		a.pause, a.since = firstAsk, time.Now()
		a.timer = time.NewTimer(0)
	}
}

func (a *progressRequester) due() <-chan time.Time {
	if a.timer == nil {
		return nil
	}
	return a.timer.C
}

func (a *progressRequester) request() error {
	c := a.cursor
	c.mu.Lock()
	now := time.Now()
	if now.After(c.mu.until) {
		c.mu.wanted = 0
	}
	wanted, progress := c.mu.wanted, c.mu.progress
	c.mu.Unlock()
	if wanted == 0 {
		a.stop()
		return nil
	}
	if progress > a.progress || c.store.Revision() <= progress {
		a.progress, a.since = progress, now
	}
	if now.Sub(a.since) > stallAfter {
		return errStalled
	}
	if err := c.store.client.RequestProgress(a.ctx); err != nil {
		return err
	}
	a.timer.Reset(a.pause)
	a.pause = min(2*a.pause, lastAsk)
	return nil
}

func (a *progressRequester) stop() {
	if a.timer != nil {
		a.timer.Stop()
		a.timer = nil
	}
}
