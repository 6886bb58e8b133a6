package main

import (
	"fmt"
	"time"

	"fairlead.dev/internal/controlplane"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"
)

// limitFlags are the limits on requests, under kube-apiserver's names where it has the
// same.
type limitFlags struct {
	reads, writes int
	bodies        string
	timeout       time.Duration
}

func (f *limitFlags) register(flags *pflag.FlagSet) {
	flags.IntVar(&f.reads, "max-requests-inflight", 400, "limit on concurrent reads, not counting watches; others get 429; 0 for no limit")
	flags.IntVar(&f.writes, "max-mutating-requests-inflight", 200, "limit on concurrent writes; others get 429; 0 for no limit")
	flags.StringVar(&f.bodies, "max-request-bytes-inflight", "128Mi", "limit on the memory of all request bodies; others get 429; 0 for no limit")
	flags.DurationVar(&f.timeout, "request-timeout", time.Minute, "time limit of a request, not of watches; beyond it the request gets 504")
}

// limits converts the flags, in which 0 is no limit.
func (f *limitFlags) limits() (l controlplane.Limits, err error) {
	for name, n := range map[string]int{"max-requests-inflight": f.reads, "max-mutating-requests-inflight": f.writes} {
		if n < 0 {
			return l, fmt.Errorf("--%s=%d: want 0 or more", name, n)
		}
	}
	bodies, err := resource.ParseQuantity(f.bodies)
	if err != nil || bodies.Sign() < 0 {
		return l, fmt.Errorf("--max-request-bytes-inflight=%s: want bytes, such as 128Mi", f.bodies)
	}
	if f.timeout <= 0 {
		return l, fmt.Errorf("--request-timeout=%v: want more than 0", f.timeout)
	}
	return controlplane.Limits{
		MaxReads: limitOption(f.reads), MaxWrites: limitOption(f.writes), MaxBodyBytes: limitOption(bodies.Value()), RequestTimeout: f.timeout,
	}, nil
}

// limitOption is the option for a flag, whose 0 is no bound.
func limitOption[T int | int64](n T) T {
	if n == 0 {
		return -1
	}
	return n
}
