package main

import (
	"context"
	"time"
)

// settled is how long after the start a server is idle.
const settled = 5 * time.Second

// start reports the time from exec until the server is ready.
func start(_ context.Context, b *bench) ([]figure, error) {
	return []figure{{"start", b.server.ready.Seconds()}}, nil
}

// idle measures a server without requests.
func idle(ctx context.Context, b *bench) ([]figure, error) {
	const watched = 3 * time.Second
	if err := b.settle(ctx); err != nil {
		return nil, err
	}
	cpu, wall, err := b.spent(func() error { return sleep(ctx, watched) })
	if err != nil {
		return nil, err
	}
	bytes, err := b.server.resident()
	return []figure{
		{"idle-memory", float64(bytes) / (1 << 20)},
		{"idle-cpu", ms(cpu) / wall.Seconds()},
	}, err
}

func (b *bench) settle(ctx context.Context) error {
	return sleep(ctx, settled-time.Since(b.server.began.Add(b.server.ready)))
}

// memory reports resident memory after the loads.
func memory(ctx context.Context, b *bench) ([]figure, error) {
	if err := sleep(ctx, 2*time.Second); err != nil {
		return nil, err
	}
	bytes, err := b.server.resident()
	return []figure{{"memory", float64(bytes) / (1 << 20)}}, err
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
func us(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
