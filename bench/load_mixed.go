package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// mixedWindow is the time that percentiles are taken over, and stormWindow is which one of each minute has the storm.
	mixedWindow  = 10 * time.Second
	stormWindow  = 2
	stormClients = 4
	// mixedLag is how many pods lie between the newest one and the one that is deleted.
	mixedLag = 200
	// mixedPatience bounds a single request.
	mixedPatience = 30 * time.Second
)

// window has the times that small requests took in a part of the load, in milliseconds.
type window struct {
	Minute float64 `json:"minute"` // of its end
	Storm  bool    `json:"storm"`  // whether lists of all pods were read meanwhile
	P50    float64 `json:"p50"`
	P99    float64 `json:"p99"`
	P999   float64 `json:"p999"`
	Most   float64 `json:"most"`
}

// mixed makes small requests at a steady rate: of eight, one creates a pod, one deletes one, two patch, and four read.
// The time of a request counts from when it was due, even if those before it were not answered, so that a server that stands
// still delays all requests of that time. A request that is refused for now is made again when the server allows it. Ten seconds of each
// minute have a storm: four clients list all pods again and again.
func mixed(ctx context.Context, b *bench) ([]figure, error) {
	m := &mix{bench: b, begin: time.Now(), took: make([]time.Duration, b.Minutes*60*b.Rate)}
	ctx, fail := context.WithCancelCause(ctx)
	var beside sync.WaitGroup
	beside.Go(func() { fail(m.storms(ctx)) })
	err := m.all(ctx)
	fail(err)
	beside.Wait()
	if err != nil {
		return nil, err
	}
	calm, storm := m.summarize()
	return slices.Concat(percentiles("mixed", calm), percentiles("mixed-storm", storm), []figure{{"mixed-storm-lists", median(m.lists) / mixedWindow.Seconds()}}), nil
}

// mix is one run of the load.
type mix struct {
	*bench
	begin time.Time
	took  []time.Duration // by the number of the request
	lists []float64       // in each storm
}

// due is when a request is due, after the beginning.
func (m *mix) due(i int) time.Duration { return time.Duration(i) * time.Second / time.Duration(m.Rate) }

// windowOf is the window in which a request is due.
func (m *mix) windowOf(i int) int { return int(m.due(i) / mixedWindow) }

func isStorm(window int) bool { return window%int(time.Minute/mixedWindow) == stormWindow }

// all makes each request when it is due, and waits for the answers.
func (m *mix) all(ctx context.Context) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var pending sync.WaitGroup
	defer pending.Wait()
	for i := range m.took {
		if err := sleep(ctx, time.Until(m.begin.Add(m.due(i)))); err != nil {
			return context.Cause(ctx)
		}
		pending.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, mixedPatience)
			defer cancel()
			if err := patiently(ctx, func() error { return m.one(ctx, i) }); err != nil {
				fail(err)
			}
			m.took[i] = time.Since(m.begin) - m.due(i)
		})
	}
	pending.Wait()
	return context.Cause(ctx)
}

func (m *mix) one(ctx context.Context, i int) error {
	newest, pod, c := m.Pods+i/8, podPath(i%m.Pods), m.conn(i)
	switch i % 8 {
	case 0:
		body, err := newPod(newest, m.Pods/labelled, m.Nodes)
		if err != nil {
			return err
		}
		return c.call(ctx, request{method: http.MethodPost, path: podsPath, body: body, want: http.StatusCreated})
	case 1:
		if newest-mixedLag >= m.Pods {
			return c.call(ctx, request{method: http.MethodDelete, path: podPath(newest - mixedLag), body: []byte(`{"gracePeriodSeconds":0}`), want: http.StatusOK})
		}
	case 2, 3:
		return m.patch(ctx, i%m.Pods, fmt.Sprint("mixed-", i))
	}
	return c.call(ctx, request{path: pod, want: http.StatusOK})
}

// storms lets four clients list all pods in the windows of storms, until ctx ends.
func (m *mix) storms(ctx context.Context) error {
	for w := 0; ; w++ {
		if err := sleep(ctx, time.Until(m.begin.Add(time.Duration(w)*mixedWindow))); err != nil {
			return err
		}
		if !isStorm(w) {
			continue
		}
		clients, err := m.startBeside("storm")
		if err != nil {
			return err
		}
		_ = sleep(ctx, time.Until(m.begin.Add(time.Duration(w+1)*mixedWindow)))
		var lists int
		if err := clients.end(&lists); err != nil {
			return err
		}
		m.lists = append(m.lists, float64(lists))
	}
}

// storm lists all pods by several clients, each on a connection of its own, and prints the number of whole lists.
func storm(ctx context.Context, task besideTask) error {
	var lists atomic.Int64
	err := each(ctx, stormClients, stormClients, func(ctx context.Context, i int) error {
		c := newClient(task.URL, credentials{token: task.Token})
		for {
			err := patiently(ctx, func() error { return c.call(ctx, request{path: podsPath, want: http.StatusOK}) })
			if err != nil {
				return err
			}
			lists.Add(1)
		}
	})
	if ctx.Err() == nil {
		return err
	}
	fmt.Println(lists.Load())
	return nil
}

// summarize fills the windows, and returns the times of all requests without and with a storm, in order.
func (m *mix) summarize() (calm, storm []time.Duration) {
	for first := 0; first < len(m.took); {
		w, next := m.windowOf(first), first
		for next < len(m.took) && m.windowOf(next) == w {
			next++
		}
		took := slices.Sorted(slices.Values(m.took[first:next]))
		m.windows = append(m.windows, window{
			Minute: (time.Duration(w+1) * mixedWindow).Minutes(), Storm: isStorm(w),
			P50: ms(quantile(took, 0.5)), P99: ms(quantile(took, 0.99)), P999: ms(quantile(took, 0.999)), Most: ms(took[len(took)-1]),
		})
		if isStorm(w) {
			storm = append(storm, took...)
		} else {
			calm = append(calm, took...)
		}
		first = next
	}
	slices.Sort(calm)
	slices.Sort(storm)
	return calm, storm
}

// percentiles are the figures of sorted times.
func percentiles(row string, took []time.Duration) []figure {
	return []figure{
		{row + "-p50", ms(quantile(took, 0.5))}, {row + "-p99", ms(quantile(took, 0.99))},
		{row + "-p999", ms(quantile(took, 0.999))}, {row + "-most", ms(took[len(took)-1])},
	}
}

// quantile is the element of sorted values below which the fraction q of them lies.
func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[min(int(float64(len(sorted))*q), len(sorted)-1)]
}
