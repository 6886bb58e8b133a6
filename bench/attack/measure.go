package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// attack is one way to make a server unavailable.
type attack struct {
	name, title string
	// prepare makes the attack's objects; it may be nil.
	prepare func(ctx context.Context, s *server) error
	// run attacks, for no longer than its context, and returns the responses in a few
	// words.
	run   func(ctx context.Context, s *server) string
	limit time.Duration
}

// measure starts a server, attacks it, and formats a row of the table.
func measure(ctx context.Context, o options, peer string, a attack, dir string) (string, error) {
	s, err := startServer(ctx, o, peer, dir)
	if err != nil {
		return "", err
	}
	defer s.stop()
	if a.prepare != nil {
		if err := a.prepare(ctx, s); err != nil {
			return "", err
		}
	}
	time.Sleep(2 * time.Second)
	before := s.resident()
	watching, stopWatching := context.WithCancel(ctx)
	defer stopWatching()
	go s.watch(watching, o.most)

	b := s.bystand(ctx)
	attacking, stop := context.WithTimeout(ctx, a.limit)
	said := a.run(attacking, s)
	stop()
	served := b.stop()
	if s.tooBig.Load() {
		return fmt.Sprintf("%s | %d, **%d MB: stopped** | %s | - ", said, before>>20, s.peak.Load()>>20, served), nil
	}
	time.Sleep(10 * time.Second)
	after := s.resident()
	b = s.bystand(ctx)
	time.Sleep(2 * time.Second)
	later := b.stop()
	return fmt.Sprintf("%s | %d, %d, %d MB | %s | %s", said, before>>20, s.peak.Load()>>20, after>>20, served, millis(later.at(50))), nil
}

// bystander is another client, which reads something small again and again.
type bystander struct {
	stopIt context.CancelFunc
	done   sync.WaitGroup
	mu     sync.Mutex
	got    times
}

// times are how long requests took, and how many failed.
type times struct {
	Took   []time.Duration
	Failed int
}

func (t times) at(percent int) time.Duration {
	if len(t.Took) == 0 {
		return 0
	}
	slices.Sort(t.Took)
	return t.Took[min(len(t.Took)-1, len(t.Took)*percent/100)]
}

func (t times) String() string {
	return fmt.Sprintf("%s, %s, %d of %d", millis(t.at(50)), millis(t.at(99)), t.Failed, t.Failed+len(t.Took))
}

func millis(d time.Duration) string { return fmt.Sprintf("%.1f ms", d.Seconds()*1000) }

// bystand reads as an administrator, with four requests at once. One that takes ten seconds
// has failed.
func (s *server) bystand(ctx context.Context) *bystander {
	b := &bystander{}
	ctx, b.stopIt = context.WithCancel(ctx)
	for range 4 {
		b.done.Go(func() {
			for ctx.Err() == nil {
				one, cancel := context.WithTimeout(ctx, 10*time.Second)
				began := time.Now()
				code, _, err := s.call(one, s.admin, s.token, "GET", "/api/v1/namespaces/default", "", nil)
				took := time.Since(began)
				cancel()
				if ctx.Err() != nil {
					return
				}
				b.mu.Lock()
				if err != nil || code != http.StatusOK {
					b.got.Failed++
				} else {
					b.got.Took = append(b.got.Took, took)
				}
				b.mu.Unlock()
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	return b
}

func (b *bystander) stop() times {
	b.stopIt()
	b.done.Wait()
	return b.got
}
