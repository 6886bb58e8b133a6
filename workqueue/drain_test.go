package workqueue_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"fairlead.dev/workqueue"
)

func TestDrainWaitsForTheWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{Name: "web"})
		q.Add("a")
		q.Add("b")
		q.AddAfter("late", time.Hour)
		get(t, q, "a")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := q.Drain(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || err.Error() != "workqueue web: 1 keys wait and 1 are being worked on: context deadline exceeded" {
			t.Errorf("a drain that takes too long: %v", err)
		}
		drained := make(chan error, 1)
		go func() { drained <- q.Drain(t.Context()) }()
		get(t, q, "b")
		q.Done("b")
		synctest.Wait()
		select {
		case err := <-drained:
			t.Fatalf("the drain was over, with %v, while a is being worked on", err)
		default:
		}
		q.Done("a")
		if err := <-drained; err != nil {
			t.Error(err)
		}
		if err := q.Drain(t.Context()); err != nil {
			t.Errorf("a drain of what is drained: %v", err)
		}
	})
}
