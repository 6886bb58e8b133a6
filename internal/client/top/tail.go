package top

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/url"
	"strconv"

	tea "charm.land/bubbletea/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/client"
	"fairlead.dev/internal/client/lives"
	"fairlead.dev/internal/trace/show"
)

// traced is a part of the trace.
type traced struct {
	began  bool    // the events so far are forgotten: the trace was opened again
	events []event // at most one while following
	err    error   // the stream broke; it is opened again, unless the error is final
}

// final reports whether an error of the trace comes again each time.
func final(err error) bool {
	return errors.Is(err, lives.ErrNone) || apierrors.IsForbidden(err)
}

// events reads the last events of the trace, and follows it.
func (l *link) events(id int) tea.Cmd {
	return feed(l.ctx, id, func(ctx context.Context, emit func(traced) bool) {
		again(ctx, func() error {
			past := traced{began: true}
			next := int64(0)
			err := lives.Each(ctx, l.c, url.Values{"limit": {strconv.Itoa(maxEvents)}}, func(_ []byte, e show.Event) error {
				past.events = append(past.events, summary(e))
				next = e.Revision + 1
				return nil
			})
			if err != nil || !emit(past) {
				return err
			}
			q := url.Values{"follow": {"true"}}
			if next > 0 {
				q.Set("from", strconv.FormatInt(next, 10))
			}
			err = lives.Each(ctx, l.c, q, func(_ []byte, e show.Event) error {
				emit(traced{events: []event{summary(e)}})
				return ctx.Err()
			})
			if err == nil {
				err = io.ErrUnexpectedEOF // the server ends this stream only when it stops
			}
			return err
		}, func(err error) bool { return emit(traced{err: err}) && !final(err) })
	})
}

// logLine is a part of a log.
type logLine struct {
	line string
	err  error // the end: io.EOF when the container has ended
}

// log reads the last lines of a container's log, and follows it.
func (l *link) log(ctx context.Context, id int, pod object, container string, previous bool) tea.Cmd {
	return feed(ctx, id, func(ctx context.Context, emit func(logLine) bool) {
		q := url.Values{"container": {container}, "follow": {"true"}, "tailLines": {strconv.Itoa(maxLog)}}
		if previous {
			q.Set("previous", "true")
		}
		res, err := l.c.REST().Stream(ctx, client.Request{Path: pod.path() + "/log", Query: q, Accept: "*/*"})
		if err != nil {
			emit(logLine{err: err})
			return
		}
		defer res.Body.Close()
		in := bufio.NewReaderSize(res.Body, maxLogLine)
		for {
			line, err := in.ReadSlice('\n')
			if len(line) > 0 && !emit(logLine{line: clean(string(line))}) {
				return
			}
			if err != nil && err != bufio.ErrBufferFull {
				emit(logLine{err: err})
				return
			}
		}
	})
}

const (
	maxLog     = 5000     // lines that are kept
	maxLogLine = 16 << 10 // bytes of a line; a longer one continues on the next
)
