package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/procstart"
	"fairlead.dev/storage/etcdserver"
	"fairlead.dev/storage/local"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// fsyncValue is the flag --fsync.
type fsyncValue struct{ to *local.Fsync }

var fsyncNames = map[local.Fsync]string{
	local.FsyncAlways: "always", local.FsyncInterval: "interval", local.FsyncNever: "never",
}

func (v fsyncValue) Type() string   { return "when" }
func (v fsyncValue) String() string { return fsyncNames[*v.to] }
func (v fsyncValue) Set(s string) error {
	for f, name := range fsyncNames {
		if name == s {
			*v.to = f
			return nil
		}
	}
	return errors.New("want always, interval or never")
}

// periodValue is a flag whose value is a duration above 0.
type periodValue struct{ to *time.Duration }

func (v periodValue) Type() string   { return "period" }
func (v periodValue) String() string { return v.to.String() }
func (v periodValue) Set(s string) error {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return errors.New("want a duration above 0, such as 30s or 5m")
	}
	*v.to = d
	return nil
}

// registerStore registers the flags of commands with an embedded store.
func registerStore(flags *pflag.FlagSet, fsync *local.Fsync, history *time.Duration, noSync *[]string, acceptTornTail *bool) {
	flags.Var(fsyncValue{fsync}, "fsync", "when a write is synced to disk: always (before it is acknowledged), interval (within 100 ms), never (by the operating system)")
	*history = local.DefaultHistory
	flags.Var(periodValue{history}, "history", "how long superseded revisions are kept; a watch can resume from any of them")
	flags.StringSliceVar(noSync, "nosync-prefixes", nil, "key prefixes that need not survive a crash of the machine, such as /registry/events/,/registry/leases/: their writes do not wait for the sync")
	registerTornTail(flags, acceptTornTail)
}

// registerTornTail registers the flag of commands that open a data directory.
func registerTornTail(flags *pflag.FlagSet, accept *bool) {
	flags.BoolVar(accept, "accept-torn-tail", false, "open a store whose log ends before the last acknowledged write, without the missing writes")
}

// registerEtcd is for `up` and `server`.
func registerEtcd(flags *pflag.FlagSet, o *controlplane.Options) {
	registerStore(flags, &o.Fsync, &o.History, &o.NoSync, &o.AcceptTornTail)
	flags.StringVar(&o.EtcdListen, "etcd-listen", "", "serve the store as etcd v3 on this address too, such as 127.0.0.1:2379 or unix:///PATH")
	flags.BoolVar(&o.EtcdListenInsecure, "etcd-listen-insecure", false, "allow an --etcd-listen that other machines can reach without --etcd-listen-trusted-ca-file: any client that reaches it can read and write everything")
	registerServing(flags, "etcd-listen-", "etcd", &o.EtcdTLS)
}

// registerServing adds the flags of the files to serve a protocol with.
func registerServing(flags *pflag.FlagSet, prefix, protocol string, f *controlplane.ServingFiles) {
	flags.StringVar(&f.CertFile, prefix+"cert-file", "", "certificate to serve "+protocol+" with (default plain text)")
	flags.StringVar(&f.KeyFile, prefix+"key-file", "", "key of the serving certificate")
	flags.StringVar(&f.TrustedCAFile, prefix+"trusted-ca-file", "", "CA of the certificates that "+protocol+" clients must have")
}

func newEtcd() *cobra.Command {
	var (
		dir, listen, output string
		o                   local.Options
		files               controlplane.ServingFiles
	)
	cmd := &cobra.Command{
		Use:   "etcd",
		Short: "Run the store alone, as an etcd, for etcdctl, kube-apiserver and other etcd v3 clients",
		Example: `  fairlead etcd --data-dir=/var/lib/fairlead-etcd
  etcdctl --endpoints=127.0.0.1:2379 put greeting hello

  # For other machines: with certificates
  fairlead etcd --listen=0.0.0.0:2379 --cert-file=server.crt --key-file=server.key --trusted-ca-file=ca.crt`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "" && output != "json" {
				return usageError{fmt.Errorf("-o %s: want json", output)}
			}
			return serveEtcd(cmd, dir, listen, output, o, files)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&dir, "data-dir", ".fairlead-etcd", "data directory")
	flags.BoolVar(&o.InMemory, "in-memory", false, "keep no data on disk")
	flags.StringVar(&listen, "listen", "127.0.0.1:2379", "address to serve on; port 0 picks one")
	flags.StringVarP(&output, "output", "o", "", "json: print one line of JSON when ready")
	registerStore(flags, &o.Fsync, &o.History, &o.NoSync, &o.AcceptTornTail)
	registerServing(flags, "", "etcd", &files)
	return cmd
}

// serveEtcd runs the store and its etcd endpoint until a signal comes.
func serveEtcd(cmd *cobra.Command, dir, listen, output string, o local.Options, files controlplane.ServingFiles) error {
	config, err := files.TLS()
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	defer l.Close()
	p := newProgress(os.Stderr)
	o.Logger, o.Progress = slog.Default(), p.meter("Loading", "revisions").at
	store, err := local.Open(filepath.Join(dir, storeName), o)
	if err != nil {
		return err
	}
	kept := "in memory"
	if !o.InMemory {
		kept = filepath.Join(dir, storeName)
	}
	p.step("Store", fmt.Sprintf("%s, revision %s", kept, store.Revision()))
	url := "http://" + l.Addr().String()
	if config != nil {
		url = "https://" + l.Addr().String()
	}
	s := etcdserver.New(etcdserver.Config{Store: store, TLS: config, ClientURLs: []string{url}})
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	p.step("etcd", url)
	if output == "json" {
		json.NewEncoder(cmd.OutOrStdout()).Encode(struct {
			Endpoint    string `json:"endpoint"`
			PID         int    `json:"pid"`
			ReadyMillis int64  `json:"readyMillis"`
		}{url, os.Getpid(), time.Since(procstart.Time()).Milliseconds()})
	} else {
		p.line(fmt.Sprintf("Ready in %d ms. Next:\n\n  etcdctl --endpoints=%s put greeting hello\n\nCtrl-C stops it.", time.Since(procstart.Time()).Milliseconds(), url))
	}
	select {
	case <-cmd.Context().Done():
		p.line("Stopping")
	case err = <-served:
	case <-store.Failed():
		err = handleStoreFailure(cmd.Context(), p, kept, store.Err())
	}
	s.Close()
	return errors.Join(err, store.Close())
}
