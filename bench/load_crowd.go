package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// crowdWindow is the HTTP/2 window of a client of the crowd.
	crowdWindow = 64 << 10
	// crowdTime bounds how long the crowd reads.
	crowdTime = 15 * time.Second
)

// crowd has many clients, each on a connection of its own, read all pods at once: all have
// begun before any goes on. It reports the growth of the server's memory for each of them,
// above its size with their connections open, and the latency of another client's reads of
// a single pod meanwhile.
func crowd(ctx context.Context, b *bench) ([]figure, error) {
	cs := make([]*client, b.Crowd)
	for i := range cs {
		cs[i] = newClient(b.url(i), b.user)
		cs[i].http.Transport.(*http.Transport).HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: crowdWindow}
		defer cs[i].close()
	}
	err := each(ctx, len(cs), writers, func(ctx context.Context, i int) error {
		return cs[i].call(ctx, request{path: "/version", want: http.StatusOK})
	})
	if err != nil {
		return nil, err
	}
	var figures []figure
	for _, k := range []struct{ row, path, accept string }{
		{"crowd-list", podsPath, mediaJSON},
		{"crowd-proto", podsPath, mediaProto},
		{"crowd-watchlist", podsPath + "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=15", mediaJSON},
	} {
		f, err := b.gather(ctx, cs, k.row, request{path: k.path, accept: k.accept, want: http.StatusOK})
		if err != nil {
			return nil, err
		}
		figures = append(figures, f...)
	}
	return figures, nil
}

// gather has all clients make the request.
func (b *bench) gather(ctx context.Context, cs []*client, row string, r request) ([]figure, error) {
	// A first list makes the shared encodings.
	if err := cs[0].call(ctx, r); err != nil {
		return nil, err
	}
	if err := sleep(ctx, settled); err != nil {
		return nil, err
	}
	before, err := b.server.resident()
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, loadTimeout)
	defer stop()
	bodies := make([]io.ReadCloser, len(cs))
	defer func() {
		for _, body := range bodies {
			if body != nil {
				body.Close()
			}
		}
	}()
	var peak atomic.Int64
	p, err := b.startBeside("probe")
	if err != nil {
		return nil, err
	}
	var beside sync.WaitGroup
	probing, enough := context.WithCancel(ctx)
	beside.Go(func() { b.watchMemory(probing, &peak) })
	err = each(ctx, len(cs), len(cs), func(ctx context.Context, i int) (err error) {
		bodies[i], err = cs[i].open(context.WithoutCancel(ctx), r)
		return err
	})
	if err == nil {
		reading, end := context.WithTimeout(ctx, crowdTime)
		_ = each(reading, len(cs), len(cs), func(ctx context.Context, i int) error {
			defer context.AfterFunc(ctx, func() { bodies[i].Close() })()
			io.Copy(io.Discard, bodies[i])
			return nil
		})
		end()
	}
	enough()
	beside.Wait()
	var median time.Duration
	failed := p.end(&median)
	if err := errors.Join(err, failed); err != nil {
		return nil, err
	}
	return []figure{
		{row, float64(peak.Load()-before) / 1024 / float64(len(cs))},
		{row + "-get", ms(median)},
	}, nil
}

// watchMemory measures the server's peak memory until ctx ends.
func (b *bench) watchMemory(ctx context.Context, peak *atomic.Int64) {
	for sleep(ctx, 20*time.Millisecond) == nil {
		if now, err := b.server.resident(); err == nil {
			peak.Store(max(peak.Load(), now))
		}
	}
}
