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

// storeFlags say which store is meant: the one in a directory, which nobody may
// have open, or one that runs.
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
		Short: "Look into a store, check it, take snapshots of it and restore them",
		Long: `Look into a store, check it, take snapshots of it and restore them.

The store is the one in --data-dir, whether or not it runs, or, with --endpoints,
another that runs: started with --etcd-listen, by 'fairlead etcd', or any etcd 3.5
or later. verify and restore want a directory that no process has open.`,
		Example: `  fairlead store status --data-dir=.fairlead
  fairlead store snapshot save backup.db
  fairlead store watch /registry/pods/ --prefix --endpoints=127.0.0.1:2379`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.dir, "data-dir", ".fairlead", "data directory of the store")
	flags.StringSliceVar(&f.endpoints, "endpoints", nil, "client URLs of a store, or an etcd, that runs")
	flags.StringVar(&f.caCert, "cacert", "", "who signs the certificates of the endpoints")
	flags.StringVar(&f.cert, "cert", "", "client certificate for the endpoints")
	flags.StringVar(&f.key, "key", "", "key of the client certificate")
	flags.StringVarP(&f.output, "output", "o", "", "json: for machines")
	registerTornTail(flags, &f.acceptTornTail)
	cmd.AddCommand(newStoreStatus(&f), newStoreVerify(&f), newStoreSnapshot(&f), newStoreCompact(&f), newStoreGet(&f), newStoreWatch(&f))
	return cmd
}

func (f *storeFlags) check() error {
	if f.output != "" && f.output != "json" {
		return usageError{fmt.Errorf("-o %s: want json", f.output)}
	}
	if (f.cert == "") != (f.key == "") {
		return usageError{errors.New("--cert and --key go together")}
	}
	return nil
}

func (f *storeFlags) path() string { return filepath.Join(f.dir, storeName) }

// exists refuses a directory without a store, which opening would make.
func (f *storeFlags) exists() error {
	if _, err := os.Stat(f.path()); err != nil {
		return fmt.Errorf("there is no store in %s: name one with --data-dir, or one that runs with --endpoints", f.dir)
	}
	return nil
}

// hint says how to reach a store that runs.
func hint(err error) error {
	if errors.Is(err, local.ErrInUse) {
		return fmt.Errorf("%w; verify and restore need it stopped, and the others reach one that runs at its socket, or with --etcd-listen and --endpoints", err)
	}
	return err
}

// reach names the socket of the store in the data directory, if one runs there and
// no other is asked for.
func (f *storeFlags) reach() {
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

// open opens the store that is meant. What it keeps of its history is left alone.
func (f *storeFlags) open(ctx context.Context) (storage.Store, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	f.reach()
	if len(f.endpoints) == 0 {
		if err := f.exists(); err != nil {
			return nil, err
		}
		s, err := local.Open(f.path(), local.Options{History: -1, AcceptTornTail: f.acceptTornTail, Logger: slog.Default()})
		if err != nil {
			return nil, hint(err)
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

// counter tells on stderr how far long work is, once a second.
func counter(p *progress, what string) func(done, total int64) {
	next := time.Now().Add(time.Second)
	return func(done, total int64) {
		if now := time.Now(); now.After(next) {
			next = now.Add(time.Second)
			if total > 0 {
				p.line(fmt.Sprintf("   %s: %d of %d (%d %%)", what, done, total, 100*done/total))
			} else {
				p.line(fmt.Sprintf("   %s: %d", what, done))
			}
		}
	}
}
