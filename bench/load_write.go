package main

import (
	"context"
	"errors"
	"net/http"
	"strconv"
)

// create makes the pods that the other loads need.
func create(ctx context.Context, b *bench) ([]figure, error) {
	made := 0
	cpu, wall, err := b.spent(func() (err error) {
		made, err = b.populate(ctx)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case made == 0:
		return nil, errors.New("the pods were there")
	}
	return b.withEtcd("create", cpu,
		figure{"create", us(cpu) / float64(made)},
		figure{"create-rate", float64(made) / wall.Seconds()},
	), nil
}

// patch changes an annotation of one pod after the other.
func patch(ctx context.Context, b *bench) ([]figure, error) {
	cpu, wall, err := b.spent(func() error {
		return each(ctx, b.Patches, writers, func(ctx context.Context, i int) error {
			return b.patch(ctx, i%b.Pods, "patch-"+strconv.Itoa(i))
		})
	})
	if err != nil {
		return nil, err
	}
	return b.withEtcd("patch", cpu,
		figure{"patch", us(cpu) / float64(b.Patches)},
		figure{"patch-rate", float64(b.Patches) / wall.Seconds()},
	), nil
}

func (b *bench) patch(ctx context.Context, pod int, seq string) error {
	return b.conn(pod).call(ctx, patchOf(podPath(pod), seq))
}

// patchOf changes the annotation of the pod at a path.
func patchOf(pod, seq string) request {
	return request{method: http.MethodPatch, path: pod, contentType: mediaMerge, body: seqPatch(seq), want: http.StatusOK}
}
