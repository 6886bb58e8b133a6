package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
)

// profileTime is how long a profile takes, and with it each load of Fairlead if profiles are wanted: longer than the loads take.
const profileTime = 30 * time.Second

// profile begins profiles of the server's CPU and allocations, in files of b.profiles. end waits for them, and returns an error
// if the work to be profiled took longer; a profile goes on after it, so it has the server's background work too.
func (b *bench) profile(ctx context.Context) (end func(took time.Duration) error) {
	if b.profiles == "" {
		return func(time.Duration) error { return nil }
	}
	var all errgroup.Group
	all.Go(func() error { return b.record(ctx, "profile", ".pb.gz") })
	all.Go(func() error { return b.record(ctx, "allocs", ".allocs.pb.gz") })
	time.Sleep(pause) // until they have begun
	return func(took time.Duration) error {
		if took+pause > profileTime {
			return fmt.Errorf("took %v, longer than its profile of %v", took.Round(time.Second), profileTime)
		}
		return all.Wait()
	}
}

// record writes a profile of a kind.
func (b *bench) record(ctx context.Context, kind, ending string) error {
	c, err := dial(ctx, b.url(0), b.user)
	if err != nil {
		return err
	}
	defer c.close()
	file, err := os.CreateTemp(filepath.Dir(b.profiles), filepath.Base(b.profiles)+"-*"+ending)
	if err != nil {
		return err
	}
	defer file.Close()
	return c.call(ctx, request{
		path: fmt.Sprintf("/debug/pprof/%s?seconds=%d", kind, int(profileTime.Seconds())), accept: "*/*", want: http.StatusOK,
		read: func(r io.Reader) error { _, err := io.Copy(file, r); return err },
	})
}
