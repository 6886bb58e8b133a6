package etcdstandin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"fairlead.dev/internal/versionflag"
)

// Command returns the command line of etcd. The flags of etcd that configure its Raft, its peers, its backend and its
// log have no effect.
func Command() *cobra.Command {
	var clients []string
	var dir, name string
	var store Store
	cmd := &cobra.Command{
		Use:           "etcd",
		Short:         "Stand in for etcd in a test harness whose kube-apiserver is Fairlead's",
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if dir == "" {
				dir = name + ".etcd"
			}
			if store.DataDir, err = filepath.Abs(dir); err != nil {
				return err
			}
			return serve(cmd.Context(), clients, store)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&name, "name", "default", "name of the member")
	flags.StringVar(&dir, "data-dir", "", "data directory (default NAME.etcd)")
	flags.StringSliceVar(&clients, "listen-client-urls", []string{"http://localhost:2379"}, "URLs to listen on")
	flags.BoolVar(&store.NoFsync, "unsafe-no-fsync", false, "leave syncing writes to the operating system")
	for _, f := range noEffect {
		flags.String(f, "", "no effect")
		flags.Lookup(f).Hidden = true
	}
	for _, f := range noEffectBools {
		flags.Bool(f, false, "no effect")
		flags.Lookup(f).Hidden = true
	}
	versionflag.Add(cmd, "etcd Version: "+Version)
	return cmd
}

// noEffect are the flags of etcd that are accepted and have no effect.
var noEffect = []string{
	"advertise-client-urls", "listen-peer-urls", "initial-advertise-peer-urls", "initial-cluster", "initial-cluster-state",
	"initial-cluster-token", "heartbeat-interval", "election-timeout", "snapshot-count",
	"max-snapshots", "max-wals", "wal-dir", "quota-backend-bytes", "backend-batch-interval", "backend-batch-limit",
	"backend-bbolt-freelist-type", "max-txn-ops", "max-request-bytes", "max-concurrent-streams", "grpc-keepalive-min-time",
	"grpc-keepalive-interval", "grpc-keepalive-timeout", "auto-compaction-mode", "auto-compaction-retention",
	"metrics", "logger", "log-level", "log-outputs", "log-format",
	"warning-unary-request-duration", "warning-apply-duration",
	"watch-progress-notify-interval", "experimental-watch-progress-notify-interval", "compaction-batch-limit",
	"experimental-compaction-batch-limit",
}

// noEffectBools are those without a value.
var noEffectBools = []string{
	"enable-pprof", "force-new-cluster", "initial-election-tick-advance", "pre-vote", "socket-reuse-address", "socket-reuse-port",
	"strict-reconfig-check",
}

// serve answers on the URLs until ctx ends.
func serve(ctx context.Context, urls []string, store Store) error {
	server := &http.Server{Handler: Handler(store), ReadHeaderTimeout: 10 * time.Second}
	var listeners []net.Listener
	for _, text := range urls {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" || u.Host == "" {
			err = fmt.Errorf("--listen-client-urls=%s: want http://HOST:PORT", text)
		}
		var l net.Listener
		if err == nil {
			l, err = net.Listen("tcp", u.Host)
		}
		if err != nil {
			for _, l := range listeners {
				l.Close()
			}
			return err
		}
		listeners = append(listeners, l)
	}
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { failed <- server.Serve(l) }()
	}
	select {
	case <-ctx.Done():
		return server.Close()
	case err := <-failed:
		return errors.Join(err, server.Close())
	}
}
