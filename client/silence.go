package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// ErrSilent is the error of a request or a watch whose server has sent no data for
// Options.Silence: its connection or the server itself is dead. HTTP/2 detects a dead
// connection sooner by its pings (after 45 s); over HTTP/1.1 only this timeout does.
var ErrSilent = errors.New("client: the server has been silent for too long")

// silence is Options.Silence if that is zero. kube-apiserver ends every request that is
// not a stream within a minute, and sends a watch a bookmark each minute.
const silence = 3 * time.Minute

// silenceTimer ends a request whose server is silent. A nil one is patient.
type silenceTimer struct {
	most   time.Duration
	timer  *time.Timer
	cancel context.CancelCauseFunc
}

// listen returns a context that ends when the server has been silent for d, and the timer
// to reset on every received byte. There is no limit if d is below zero.
func listen(ctx context.Context, d time.Duration) (context.Context, *silenceTimer) {
	if d <= 0 {
		return ctx, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	l := &silenceTimer{most: d, cancel: cancel}
	l.timer = time.AfterFunc(d, func() { cancel(ErrSilent) })
	return ctx, l
}

func (l *silenceTimer) heard() {
	if l != nil {
		l.timer.Reset(l.most)
	}
}

func (l *silenceTimer) stop() {
	if l != nil {
		l.timer.Stop()
		l.cancel(nil)
	}
}

// silent makes err ErrSilent if that is why ctx has ended.
func silent(ctx context.Context, err error) error {
	if err != nil && context.Cause(ctx) == ErrSilent {
		return ErrSilent
	}
	return err
}

// timedBody is the body of an answer that a listener listens to until it is closed.
type timedBody struct {
	io.ReadCloser
	ctx context.Context
	l   *silenceTimer
}

func (h *timedBody) Read(b []byte) (int, error) {
	n, err := h.ReadCloser.Read(b)
	if err != nil {
		return n, silent(h.ctx, err)
	}
	h.l.heard()
	return n, nil
}

func (h *timedBody) Close() error {
	err := h.ReadCloser.Close()
	h.l.stop()
	return err
}

// heed makes reads of res's body reset the timer.
func heed(ctx context.Context, res *http.Response, l *silenceTimer) {
	if l != nil {
		res.Body = &timedBody{res.Body, ctx, l}
	}
}
