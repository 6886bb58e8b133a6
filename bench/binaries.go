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

// binaries are the programs to measure; what is not given is built.
type binaries struct{ fairlead, kubeAPIServer, etcd string }

func (b *binaries) register(f *flag.FlagSet) {
	f.StringVar(&b.fairlead, "fairlead", os.Getenv("FAIRLEAD"), "the fairlead binary (default $FAIRLEAD, or built from ..)")
	f.StringVar(&b.kubeAPIServer, "kube-apiserver", os.Getenv("KUBE_APISERVER"), "the kube-apiserver binary (default $KUBE_APISERVER, or built from ../compat)")
	f.StringVar(&b.etcd, "etcd", os.Getenv("ETCD"), "the etcd binary (default $ETCD, or built from ../compat)")
}

// find builds into dir what the peers need and nobody has given.
func (b *binaries) find(ctx context.Context, dir string, picked []peer) error {
	needed := func(name string) bool {
		return slices.ContainsFunc(picked, func(p peer) bool { return p.name == name })
	}
	for _, x := range []struct {
		path             *string
		peer, from, name string
	}{
		{&b.fairlead, "fairlead", "..", "fairlead"},
		{&b.kubeAPIServer, "kube-apiserver", "../compat", "kube-apiserver"},
		{&b.etcd, "kube-apiserver", "../compat", "etcd"},
	} {
		if *x.path != "" || !needed(x.peer) {
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
