package main

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// aftermath is the time for writes after all pods run: Events, and the last counts.
const aftermath = time.Second

// lived measures f, which changes n pods: the CPU time for one, until f returns and a
// second more. Nodes simulated by another process have a row of their own.
func (b *bench) lived(ctx context.Context, row string, n int, f func() error) ([]figure, error) {
	before, err := cpuOf(b.server.players)
	if err != nil {
		return nil, err
	}
	cpu, _, err := b.spent(func() error {
		if err := f(); err != nil {
			return err
		}
		return sleep(ctx, aftermath)
	})
	if err != nil {
		return nil, err
	}
	figures := []figure{{row + "-cpu", us(cpu) / float64(n)}}
	if len(b.server.players) > 0 {
		after, err := cpuOf(b.server.players)
		if err != nil {
			return nil, err
		}
		figures = append(figures, figure{row + "-nodes", us(after-before) / float64(n)})
	}
	return figures, nil
}

// replicas creates a Deployment and waits until its pods have nodes, and run.
func replicas(ctx context.Context, b *bench) ([]figure, error) {
	l, err := b.watchLives(ctx, namespace)
	if err != nil {
		return nil, err
	}
	defer l.close()
	var begin time.Time
	figures, err := b.lived(ctx, "replicas", b.Replicas, func() error {
		begin = time.Now()
		if err := b.deploy(ctx, namespace, deploymentName, b.Replicas); err != nil {
			return err
		}
		b.deployed = b.Replicas
		if err := l.untilRunning(b.Replicas); err != nil {
			return err
		}
		return b.untilRolledOut(ctx, namespace, deploymentName)
	})
	if err != nil {
		return nil, err
	}
	if len(l.bound) != b.Replicas || len(l.gone) > 0 {
		return nil, fmt.Errorf("%d pods were bound and %d deleted, for %d replicas", len(l.bound), len(l.gone), b.Replicas)
	}
	return append([]figure{
		{"replicas-bound", l.boundAt.Sub(begin).Seconds()},
		{"replicas-running", l.runningAt.Sub(begin).Seconds()},
	}, figures...), nil
}

// scaled brings the Deployment to n replicas, creating it if no load has.
func (b *bench) scaled(ctx context.Context, n int) error {
	if b.deployed == n {
		return nil
	}
	var err error
	if b.deployed == 0 {
		err = b.deploy(ctx, namespace, deploymentName, n)
	} else {
		err = b.change(ctx, fmt.Sprintf(`{"spec":{"replicas":%d}}`, n))
	}
	if err != nil {
		return err
	}
	b.deployed = n
	return b.untilRolledOut(ctx, namespace, deploymentName)
}

// change merges into the Deployment.
func (b *bench) change(ctx context.Context, patch string) error {
	return b.conn(0).call(ctx, request{
		method: http.MethodPatch, path: deploymentPath(namespace), contentType: mediaMerge, body: []byte(patch), want: http.StatusOK,
	})
}

// scale removes replicas and waits until their pods are deleted.
func scale(ctx context.Context, b *bench) ([]figure, error) {
	if err := b.scaled(ctx, b.Replicas); err != nil {
		return nil, err
	}
	l, err := b.watchLives(ctx, namespace)
	if err != nil {
		return nil, err
	}
	defer l.close()
	less := b.Replicas - b.Rolled
	if less == 0 {
		return nil, fmt.Errorf("-rolled %d: there is nothing to take away", b.Rolled)
	}
	var took time.Duration
	figures, err := b.lived(ctx, "scale", less, func() error {
		begin := time.Now()
		if err := b.scaled(ctx, b.Rolled); err != nil {
			return err
		}
		if err := l.until(func() bool { return len(l.gone) >= less }); err != nil {
			return err
		}
		took = time.Since(begin)
		return nil
	})
	return append([]figure{{"scale", took.Seconds()}}, figures...), err
}

// rollout changes the template and waits until every pod is of the new one, and runs.
func rollout(ctx context.Context, b *bench) ([]figure, error) {
	if err := b.scaled(ctx, b.Rolled); err != nil {
		return nil, err
	}
	var took time.Duration
	figures, err := b.lived(ctx, "rollout", b.Rolled, func() error {
		begin := time.Now()
		if err := b.change(ctx, `{"spec":{"template":{"metadata":{"annotations":{"`+seqKey+`":"next"}}}}}`); err != nil {
			return err
		}
		if err := b.untilRolledOut(ctx, namespace, deploymentName); err != nil {
			return err
		}
		took = time.Since(begin)
		return nil
	})
	return append([]figure{{"rollout", took.Seconds()}}, figures...), err
}
