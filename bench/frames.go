package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// frames are the events of one watch, a line of JSON each.
type frames struct {
	body io.ReadCloser
	r    *bufio.Reader
	long []byte // a line that is longer than r's buffer
}

// watch opens a watch on a connection; when it returns the server is watching.
func (c *client) watch(ctx context.Context, path string) (*frames, error) {
	body, err := c.open(ctx, request{path: path, want: http.StatusOK})
	if err != nil {
		return nil, err
	}
	return &frames{body: body, r: bufio.NewReaderSize(body, 8<<10)}, nil
}

func (f *frames) close() { f.body.Close() }

// next waits for an event; it is valid until the next call.
func (f *frames) next() (event, error) {
	line, err := f.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		f.long = f.long[:0]
		for errors.Is(err, bufio.ErrBufferFull) {
			f.long = append(f.long, line...)
			line, err = f.r.ReadSlice('\n')
		}
		f.long = append(f.long, line...)
		line = f.long
	}
	return event(line), err
}

// event is a line of a watch.
type event []byte

// expect fails unless the event is of the type.
func (e event) expect(kind string) error {
	if !bytes.HasPrefix(e, []byte(`{"type":"`+kind+`"`)) {
		return fmt.Errorf("want %s, got %.300s", kind, e)
	}
	return nil
}

// seq is the number that the event's patch has written.
func (e event) seq() string {
	_, rest, _ := bytes.Cut(e, []byte(seqMark))
	value, _, ok := bytes.Cut(rest, []byte(`"`))
	if !ok {
		return ""
	}
	return string(value)
}

// watchers opens n watches, on as many connections as they need. done ends them
// all; it may be called more than once.
func (b *bench) watchers(ctx context.Context, n int, path func(i int) string) (open []*frames, done func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	var cs []*client
	done = sync.OnceFunc(func() {
		cancel()
		for _, f := range open {
			if f != nil {
				f.close()
			}
		}
		for _, c := range cs {
			c.close()
		}
	})
	for range (n + b.PerConn - 1) / b.PerConn {
		c, err := b.dial(ctx)
		if err != nil {
			done()
			return nil, nil, err
		}
		cs = append(cs, c)
	}
	open = make([]*frames, n)
	err = each(ctx, n, writers, func(_ context.Context, i int) (err error) {
		open[i], err = cs[i/b.PerConn].watch(ctx, path(i))
		return err
	})
	if err != nil {
		done()
		return nil, nil, err
	}
	return open, done, nil
}
