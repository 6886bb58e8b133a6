package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// probe reads one pod after the other, and prints the median of the times that it took.
func probe(ctx context.Context, task besideTask) error {
	c := newClient(task.URL, credentials{token: task.Token})
	var took []time.Duration
	for i := 0; sleep(ctx, 2*time.Millisecond) == nil; i++ {
		begin := time.Now()
		if err := c.call(context.Background(), request{path: podPath(i * 7919 % task.Pods), want: http.StatusOK}); err != nil {
			return err
		}
		took = append(took, time.Since(begin))
	}
	if len(took) == 0 {
		return errors.New("it read no pod")
	}
	slices.Sort(took)
	fmt.Println(int64(took[len(took)/2]))
	return nil
}
