package main

import "testing"

// TestRangesAreChecked: a wrong range is an error of usage, before anything starts.
func TestRangesAreChecked(t *testing.T) {
	for _, args := range [][]string{
		{"up", "--cluster-cidr=10.0.0.0"},
		{"up", "--allocate-node-cidrs"},
		{"up", "--cluster-cidr=10.0.0.0/16,10.1.0.0/16"},
		{"up", "--cluster-cidr=10.0.0.0/16", "--node-cidr-mask-size=8"},
		{"up", "--cluster-cidr=10.0.0.0/16", "--allocate-node-cidrs=false", "--node-cidr-mask-size-ipv6=64"},
		{"up", "--load-balancer-pool=192.0.2.1"},
		{"up", "--load-balancer-pool=192.0.2.0/24,192.0.2.128/25"},
		{"up", "--load-balancer-pool=10.0.9.0/24", "--cluster-cidr=10.0.0.0/16"},
	} {
		args = append(args, "--in-memory", "--listen=127.0.0.1:0", "--data-dir="+t.TempDir())
		if code := run(t.Context(), newRoot(), args); code != exitUsage {
			t.Errorf("fairlead %v: exit code %d, want %d", args, code, exitUsage)
		}
	}
}
