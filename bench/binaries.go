package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// binaries are the programs to measure; missing ones are built.
type binaries struct{ fairlead, kubeAPIServer, etcd, kubeControllerManager, kubeScheduler string }

func (b *binaries) register(f *flag.FlagSet) {
	f.StringVar(&b.fairlead, "fairlead", os.Getenv("FAIRLEAD"), "the fairlead binary (default $FAIRLEAD, or built from ..)")
	f.StringVar(&b.kubeAPIServer, "kube-apiserver", os.Getenv("KUBE_APISERVER"), "the kube-apiserver binary (default $KUBE_APISERVER, or built from ../compat)")
	f.StringVar(&b.etcd, "etcd", os.Getenv("ETCD"), "the etcd binary (default $ETCD, or built from ../compat)")
	f.StringVar(&b.kubeControllerManager, "kube-controller-manager", os.Getenv("KUBE_CONTROLLER_MANAGER"), "the kube-controller-manager binary (default $KUBE_CONTROLLER_MANAGER, or built from ../compat)")
	f.StringVar(&b.kubeScheduler, "kube-scheduler", os.Getenv("KUBE_SCHEDULER"), "the kube-scheduler binary (default $KUBE_SCHEDULER, or built from ../compat)")
}

// find builds the missing binaries of the peers into dir.
func (b *binaries) find(ctx context.Context, dir string, o *options) error {
	ours := slices.ContainsFunc(o.peers, func(p peer) bool { return p.name == "fairlead" })
	theirs := slices.ContainsFunc(o.peers, func(p peer) bool { return p.name == "kube-apiserver" })
	alone := slices.ContainsFunc(o.loads, func(l load) bool { return !l.below })
	whole := slices.ContainsFunc(o.loads, func(l load) bool { return l.nodes != nil })
	for _, x := range []struct {
		path       *string
		needed     bool
		from, name string
	}{
		{&b.fairlead, ours || whole, "..", "fairlead"}, // kube-apiserver's cluster needs its simulated nodes
		{&b.kubeAPIServer, theirs && alone, "../compat", "kube-apiserver"},
		{&b.etcd, theirs && alone || o.layout.Members > 0, "../compat", "etcd"},
		{&b.kubeControllerManager, theirs && alone && whole, "../compat", "kube-controller-manager"},
		{&b.kubeScheduler, theirs && whole, "../compat", "kube-scheduler"},
	} {
		if *x.path != "" || !x.needed {
			continue
		}
		*x.path = filepath.Join(dir, x.name)
		fmt.Fprintln(os.Stderr, "building", x.name)
		build := exec.CommandContext(ctx, "go", "build", "-o", *x.path, "./cmd/"+x.name)
		build.Dir, build.Stderr = x.from, os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("building %s in %s: %w", x.name, x.from, err)
		}
	}
	return nil
}
