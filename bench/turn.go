package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// writers is how many requests are under way at once, where it matters.
	writers = 32
	// loadTimeout bounds one load, and clusterTimeout one of a whole control plane.
	loadTimeout    = 5 * time.Minute
	clusterTimeout = 15 * time.Minute
	// pause separates two loads, so that the second does not pay for the background work of
	// the first.
	pause = 500 * time.Millisecond
)

// bench is one server's turn.
type bench struct {
	sizes
	server *server
	user   credentials
	conns  []*client // for all but watches
	// dialled counts the connections, which go to the API servers in turn.
	dialled atomic.Int64
	// podBytes is the size of a pod as served.
	podBytes atomic.Int64
	// podsMade reports whether the store has its pods.
	podsMade bool
	// nodes is how many simulated nodes there are; 0 without a control plane beside the server.
	nodes int
	// stored is the CPU of etcd's members in the last measurement of spent.
	stored time.Duration
	// deployed is how many replicas the Deployment of the loads has; 0: it is not there.
	deployed int
	// profiles is the beginning of the names of the files for the load's profiles; "" without.
	profiles string
	// windows are those of the load mixed.
	windows []window
}

// figure is one measured value of a load.
type figure struct {
	row   string // key of a row of the table
	value float64
}

// turn starts a peer, puts the loads on it and stops it.
func turn(ctx context.Context, o *options, p peer, a act, dir string, round int, r *report) error {
	dir = filepath.Join(dir, fmt.Sprintf("%s-%d", p.name, round))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	start := p.run
	if a.below {
		start = p.startBelow
	}
	s, err := start(&o.bin, dir, o.layout.with(a))
	if err != nil {
		return err
	}
	defer s.stop()
	if err := s.await(ctx); err != nil {
		return err
	}
	if s.complete != nil {
		if err := s.complete(); err != nil {
			return err
		}
	}
	b := &bench{sizes: o.sizes, server: s, nodes: a.nodes}
	if err := b.setUp(ctx); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	defer b.tearDown()
	if a.below {
		if err := b.untilOfEachNode(ctx, "/apis/resource.k8s.io/v1/resourceslices"); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	for _, l := range a.loads {
		if err := ctx.Err(); err != nil {
			return err
		}
		if l.pods {
			if _, err := b.populate(ctx); err != nil {
				return fmt.Errorf("%s: pods: %w", p.name, err)
			}
		}
		if o.profiles != "" && p.name == "fairlead" {
			b.profiles = filepath.Join(o.profiles, l.name)
		}
		time.Sleep(pause)
		begin := time.Now()
		figures, err := b.bounded(ctx, l)
		if err != nil {
			if gone := s.ended(); gone != "" {
				err = fmt.Errorf("%w\n%s", err, gone)
			}
			r.fail(p.name, round, l.name, err)
			fmt.Fprintf(os.Stderr, "  %-12s failed: %v\n", l.name, err)
			if s.ended() != "" {
				return nil
			}
			continue
		}
		var text []string
		for _, f := range figures {
			r.add(p.name, round, f)
			text = append(text, rowOf(f.row).format(f.value))
		}
		fmt.Fprintf(os.Stderr, "  %-12s %s (%.1f s)\n", l.name, strings.Join(text, ", "), time.Since(begin).Seconds())
	}
	r.note(p.name, b)
	return nil
}

func (b *bench) bounded(ctx context.Context, l load) ([]figure, error) {
	patience := loadTimeout
	switch {
	case l.nodes != nil || l.name == "definitions":
		patience = clusterTimeout
	case l.name == "mixed":
		patience += time.Duration(b.Minutes) * time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return l.run(ctx, b)
}

// spent runs f and returns the CPU time that the server spent meanwhile, and how
// long it took.
func (b *bench) spent(f func() error) (cpu, wall time.Duration, err error) {
	end := b.profile(context.Background())
	before, err := b.server.cpu()
	if err != nil {
		return 0, 0, err
	}
	members, err := cpuOf(b.server.members)
	if err != nil {
		return 0, 0, err
	}
	begin := time.Now()
	if err := f(); err != nil {
		return 0, 0, err
	}
	wall = time.Since(begin)
	after, err := b.server.cpu()
	if err != nil {
		return 0, 0, err
	}
	all, err := cpuOf(b.server.members)
	if err != nil {
		return 0, 0, err
	}
	b.stored = all - members
	return after - before, wall, end(wall)
}

// withEtcd adds etcd's part of the CPU that spent has measured last, in a row of its own, if there are members of etcd below
// both peers.
func (b *bench) withEtcd(row string, cpu time.Duration, figures ...figure) []figure {
	if len(b.server.members) > 0 {
		figures = append(figures, figure{row + "-etcd", 100 * b.stored.Seconds() / cpu.Seconds()})
	}
	return figures
}

// conn is the connection that i uses.
func (b *bench) conn(i int) *client { return b.conns[i%len(b.conns)] }

// url is the address of the API server of connection i.
func (b *bench) url(i int) string { return b.server.urls[i%len(b.server.urls)] }

// each calls f for 0 to n-1, workers at once, and stops at the first error.
func each(ctx context.Context, n, workers int, f func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, n) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := f(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
