package leader_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"fairlead.dev/client"
	"fairlead.dev/client/leader"
	"fairlead.dev/testenv"
)

// brisk tries often, and loses no lease because the machine stands still for a while.
var brisk = leader.Timing{LeaseDuration: time.Minute, RenewDeadline: 50 * time.Second, RetryPeriod: 50 * time.Millisecond}

// candidate runs until its context ends and reports when it leads and when it stops.
type candidate struct {
	name     string
	begin    chan string
	end      chan string
	stop     context.CancelFunc
	finished chan error
}

func run(t *testing.T, c *client.Client, name string, begin, end chan string) candidate {
	ctx, stop := context.WithCancel(t.Context())
	x := candidate{name: name, begin: begin, end: end, stop: stop, finished: make(chan error, 1)}
	go func() {
		x.finished <- leader.Run(ctx, c, leader.Candidate{Namespace: "kube-system", Name: "work", Identity: name, Timing: brisk},
			func(ctx context.Context) error {
				begin <- name
				<-ctx.Done()
				end <- name
				return nil
			})
	}()
	return x
}

func TestOneLeadsAndTheNextTakesOver(t *testing.T) {
	env := testenv.New(t, testenv.Options{NoNodes: true, NoScheduler: true})
	c := env.Client(t)
	leases := client.For[*coordinationv1.Lease](c).Namespace("kube-system")
	begin, end := make(chan string, 2), make(chan string, 2)
	all := map[string]candidate{}
	for _, name := range []string{"a", "b"} {
		all[name] = run(t, c, name, begin, end)
	}
	first := <-begin
	lease, err := leases.Get(t.Context(), "work")
	if err != nil || *lease.Spec.HolderIdentity != first || *lease.Spec.LeaseTransitions != 0 {
		t.Fatalf("lease %+v, %v", lease, err)
	}

	// Orderly: the lease is given up, and the other has it.
	all[first].stop()
	if err := <-all[first].finished; err != nil || <-end != first {
		t.Fatalf("%s ended with %v", first, err)
	}
	second := <-begin
	if second == first {
		t.Fatal("who stopped leads")
	}
	if lease, err = leases.Get(t.Context(), "work"); err != nil || *lease.Spec.HolderIdentity != second || *lease.Spec.LeaseTransitions < 1 {
		t.Fatalf("lease %+v, %v", lease, err)
	}

	// Robbed: another process writes into the lease; the leader stops, and leads again when
	// the lease has been given back.
	holds := func(who string) {
		t.Helper()
		for {
			lease.Spec.HolderIdentity = &who
			if _, err = leases.Update(t.Context(), lease); err == nil {
				return
			}
			if lease, err = leases.Get(t.Context(), "work"); err != nil {
				t.Fatal(err)
			}
		}
	}
	holds("thief")
	if who := <-end; who != second {
		t.Fatalf("%s ended", who)
	}
	holds("")
	if who := <-begin; who != second {
		t.Fatalf("%s began", who)
	}
	all[second].stop()
	<-all[second].finished
}

func TestWorkThatEndsEndsTheRun(t *testing.T) {
	c := testenv.New(t, testenv.Options{NoNodes: true, NoScheduler: true}).Client(t)
	boom := errors.New("boom")
	err := leader.Run(t.Context(), c, leader.Candidate{Namespace: "default", Name: "work", Identity: "a", Timing: brisk},
		func(context.Context) error { return boom })
	if !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
	lease, err := client.For[*coordinationv1.Lease](c).Namespace("default").Get(t.Context(), "work")
	if err != nil || *lease.Spec.HolderIdentity != "" {
		t.Errorf("the lease was kept: %+v, %v", lease, err)
	}
	bad := leader.Timing{LeaseDuration: time.Second, RenewDeadline: 2 * time.Second}
	if err := leader.Run(t.Context(), c, leader.Candidate{Name: "work", Timing: bad}, nil); err == nil {
		t.Error("a deadline longer than the duration was taken")
	}
}

// interrupted stores a leader's first renewal, but ends the leader before its answer.
type interrupted struct {
	http.RoundTripper
	leads *atomic.Bool
	stop  context.CancelFunc
}

func (t interrupted) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(r)
	if err != nil || r.Method != http.MethodPut || !t.leads.CompareAndSwap(true, false) {
		return resp, err
	}
	resp.Body.Close()
	t.stop()
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestInterruptedRenewal ends a leader while it renews its lease: it releases the renewed lease.
func TestInterruptedRenewal(t *testing.T) {
	env := testenv.New(t, testenv.Options{NoNodes: true, NoScheduler: true})
	ctx, stop := context.WithCancel(t.Context())
	var leads atomic.Bool
	config := env.Config()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return interrupted{next, &leads, stop} })
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = leader.Run(ctx, c, leader.Candidate{Namespace: "default", Name: "work", Identity: "a", Timing: brisk},
		func(ctx context.Context) error {
			leads.Store(true)
			<-ctx.Done()
			return nil
		})
	if err != nil || ctx.Err() == nil {
		t.Fatalf("ended with %v", err)
	}
	lease, err := client.For[*coordinationv1.Lease](env.Client(t)).Namespace("default").Get(t.Context(), "work")
	if err != nil || *lease.Spec.HolderIdentity != "" {
		t.Errorf("the lease was kept: %+v, %v", lease, err)
	}
}
