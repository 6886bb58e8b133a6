package clients

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fairlead.dev/workqueue"
)

// Keys that wait for a worker: each once, by priority, namespaces in turn; a failed key
// comes back.
func Example_workqueue() {
	q := workqueue.New(workqueue.Options[string]{
		Name:      "example",
		Group:     func(key string) string { namespace, _, _ := strings.Cut(key, "/"); return namespace },
		BaseDelay: time.Millisecond,
	})
	for _, key := range []string{"big/1", "big/2", "big/1", "big/3", "small/1"} {
		q.Add(key)
	}
	q.AddPriority("big/3", 10)

	done := 0
	for key := range q.Work(context.Background()) {
		if err := work(key, q.Failures(key)); err != nil {
			fmt.Println(key, "failed")
			q.Retry(key)
			continue
		}
		fmt.Println(key)
		q.Forget(key)
		if done++; done == 4 {
			q.Close()
		}
	}
	// Output:
	// big/3
	// big/1
	// small/1 failed
	// big/2
	// small/1
}

func work(key string, failures int) error {
	if key == "small/1" && failures == 0 {
		return errors.New("not yet")
	}
	return nil
}
