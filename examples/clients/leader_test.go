package clients

import (
	"context"
	"fmt"

	"fairlead.dev/client/leader"
)

// One of two candidates works; the other takes over when it ends.
func Example_leader() {
	_, c, stop := plane()
	defer stop()
	working := make(chan string)
	candidate := func(name string) (end context.CancelFunc, ended chan error) {
		ctx, end := context.WithCancel(context.Background())
		ended = make(chan error, 1)
		go func() {
			ended <- leader.Run(ctx, c, leader.Candidate{Namespace: "default", Name: "example", Identity: name},
				func(ctx context.Context) error { // ctx ends with the lease, and fences writes
					working <- name
					<-ctx.Done()
					return nil
				})
		}()
		return end, ended
	}
	endA, endedA := candidate("a")
	fmt.Println(<-working, "works")
	endB, endedB := candidate("b")
	endA()
	must(<-endedA)
	fmt.Println(<-working, "works")
	endB()
	must(<-endedB)
	// Output:
	// a works
	// b works
}
