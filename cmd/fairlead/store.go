package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/storage"
	"fairlead.dev/storage/etcd"
	"fairlead.dev/storage/local"
	"github.com/spf13/cobra"
)

// storeName is the store's folder in a data directory.
const storeName = "store"

// storeFlags select a store: the one in a directory, which no process may have open, or a
// running one.
type storeFlags struct {
	dir               string
	endpoints         []string
	caCert, cert, key string
	output            string
	acceptTornTail    bool
}

func newStore() *cobra.Command {
	var f storeFlags
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Inspect, verify and compact a store; save and restore snapshots",
		Long: `Inspect, verify and compact a store; save and restore snapshots.

The store is the one in --data-dir, running or not, or, with --endpoints, another running
one: started with --etcd-listen, by 'fairlead etcd', or any etcd 3.5 or later. verify and
restore need a directory that no process has open.`,
		Example: `  fairlead store status --data-dir=.fairlead
  fairlead store snapshot save backup.db
  fairlead store watch /registry/pods/ --prefix --endpoints=127.0.0.1:2379`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.dir, "data-dir", ".fairlead", "data directory of the store")
	flags.StringSliceVar(&f.endpoints, "endpoints", nil, "client URLs of a running store or etcd")
	flags.StringVar(&f.caCert, "cacert", "", "CA of the endpoints' certificates")
	flags.StringVar(&f.cert, "cert", "", "client certificate for the endpoints")
	flags.StringVar(&f.key, "key", "", "key of the client certificate")
	flags.StringVarP(&f.output, "output", "o", "", "output format: json")
	registerTornTail(flags, &f.acceptTornTail)
	cmd.AddCommand(newStoreStatus(&f), newStoreVerify(&f), newStoreSnapshot(&f), newStoreCompact(&f), newStoreGet(&f), newStoreWatch(&f))
	return cmd
}

func (f *storeFlags) validate() error {
	if f.output != "" && f.output != "json" {
		return usageError{fmt.Errorf("-o %s: want json", f.output)}
	}
	if (f.cert == "") != (f.key == "") {
		return usageError{errors.New("--cert and --key go together")}
	}
	return nil
}

func (f *storeFlags) path() string { return filepath.Join(f.dir, storeName) }

// requireStore refuses a directory without a store, which opening would make.
func (f *storeFlags) requireStore() error {
	if _, err := os.Stat(f.path()); err != nil {
		return fmt.Errorf("there is no store in %s: select one with --data-dir, or a running one with --endpoints", f.dir)
	}
	return nil
}

// withStoreHint adds to an error how to reach a running store.
func withStoreHint(err error) error {
	if errors.Is(err, local.ErrInUse) {
		return fmt.Errorf("%w; verify and restore need a stopped store; the other commands reach a running one at its socket, or with --etcd-listen and --endpoints", err)
	}
	return err
}

// useRunningSocket names the socket of the store in the data directory, if one runs there and
// no other is asked for.
func (f *storeFlags) useRunningSocket() {
	if len(f.endpoints) > 0 {
		return
	}
	path, err := filepath.Abs(filepath.Join(f.path(), controlplane.SocketName))
	if err != nil {
		return
	}
	c, err := net.Dial("unix", path)
	if err != nil {
		return
	}
	c.Close()
	f.endpoints = []string{"unix://" + path}
}

// open opens the selected store. It does not compact its history.
func (f *storeFlags) open(ctx context.Context) (storage.Store, error) {
	if err := f.validate(); err != nil {
		return nil, err
	}
	f.useRunningSocket()
	if len(f.endpoints) == 0 {
		if err := f.requireStore(); err != nil {
			return nil, err
		}
		p := newProgress(os.Stderr)
		defer p.end()
		s, err := local.Open(f.path(), local.Options{History: -1, AcceptTornTail: f.acceptTornTail, Progress: p.meter("Reading", "revisions").at, Logger: slog.Default()})
		if err != nil {
			return nil, withStoreHint(err)
		}
		return s, nil
	}
	config, err := f.tls()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, etcd.DefaultTimeout) // is anybody there?
	defer cancel()
	s, err := etcd.Open(ctx, etcd.Options{Endpoints: f.endpoints, TLS: config, History: -1, Timeout: 30 * time.Second})
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (f *storeFlags) tls() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	secure := f.caCert != "" || f.cert != ""
	for _, e := range f.endpoints {
		secure = secure || strings.HasPrefix(e, "https://")
	}
	if !secure {
		return nil, nil
	}
	if f.caCert != "" {
		pem, err := os.ReadFile(f.caCert)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("no certificate in %s", f.caCert)
		}
	}
	if f.cert != "" {
		pair, err := tls.LoadX509KeyPair(f.cert, f.key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
