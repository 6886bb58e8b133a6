package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// options are the command line's.
type options struct {
	fairlead, apiserver, etcd string
	against, only             string
	most                      int64 // bytes
}

func main() {
	var o options
	upstream := os.Getenv("UPSTREAM_BIN")
	from := func(name string) string {
		if upstream == "" {
			return ""
		}
		return filepath.Join(upstream, name)
	}
	flag.StringVar(&o.fairlead, "fairlead", os.Getenv("FAIRLEAD"), "our program (default: built from this repository)")
	flag.StringVar(&o.apiserver, "kube-apiserver", from("kube-apiserver"), "upstream's program; $UPSTREAM_BIN names its folder")
	flag.StringVar(&o.etcd, "etcd", from("etcd"), "etcd, for kube-apiserver")
	flag.StringVar(&o.against, "against", "fairlead,kube-apiserver", "servers, separated by commas")
	flag.StringVar(&o.only, "only", "", "attacks, separated by commas (default all): "+strings.Join(names(), ", "))
	flag.Int64Var(&o.most, "most", 4<<30, "bytes of memory at which a server is stopped and the attack has succeeded")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if variable := os.Getenv(neighbourVariable); variable != "" {
		if err := beNeighbour(ctx, variable); err != nil {
			fmt.Fprintln(os.Stderr, "attack:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
		os.Exit(1)
	}
}

func names() (all []string) {
	for _, a := range attacks {
		all = append(all, a.name)
	}
	return all
}

func run(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "attack-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	peers := strings.Split(o.against, ",")
	if o.fairlead == "" && slices.Contains(peers, "fairlead") {
		o.fairlead = filepath.Join(dir, "fairlead")
		build := exec.CommandContext(ctx, "go", "build", "-o", o.fairlead, "./cmd/fairlead")
		build.Dir, build.Stderr = "..", os.Stderr
		if err := build.Run(); err != nil {
			return err
		}
	}
	fmt.Println("| attack | server | what it answered | memory before, at most, after | the other client's p50, p99, failed | its p50 after |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, a := range attacks {
		if o.only != "" && !slices.Contains(strings.Split(o.only, ","), a.name) {
			continue
		}
		for _, peer := range peers {
			if err := ctx.Err(); err != nil {
				return err
			}
			row, err := measure(ctx, o, peer, a, filepath.Join(dir, a.name+"-"+peer))
			if err != nil {
				row = fmt.Sprintf("not measured: %v", err)
			}
			fmt.Printf("| %s | %s | %s |\n", a.title, peer, row)
		}
	}
	return nil
}
