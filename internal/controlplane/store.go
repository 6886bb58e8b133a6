package controlplane

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"fairlead.dev/internal/storage/holder"
	"fairlead.dev/storage"
	"fairlead.dev/storage/etcd"
	"fairlead.dev/storage/local"
	"fairlead.dev/watchcache"

	"github.com/prometheus/client_golang/prometheus"
)

// store is a control plane's store: the embedded store or an etcd cluster.
type store interface {
	storage.Store
	// Err is the reason why the store cannot be written, nil if it can.
	Err() error
}

// StoreFailed is closed when the disk of the embedded store has failed: it can be read
// and not be written any more, for the reason StoreErr. It is nil for other stores, which
// recover by themselves.
func (cp *ControlPlane) StoreFailed() <-chan struct{} {
	if s, ok := cp.store.(*local.Store); ok {
		return s.Failed()
	}
	return nil
}

// StoreDir is the directory of the embedded store on disk.
func (cp *ControlPlane) StoreDir() string { return filepath.Join(cp.options.DataDir, storeDir) }

// storeFailed is a gauge that is 1 while one of the stores can't be written.
func storeFailed(stores []func() error) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "fairlead_store_failed", Help: "1 while a store cannot be written: its disk failed or is full, or etcd does not answer.",
	}, func() float64 {
		for _, err := range stores {
			if err() != nil {
				return 1
			}
		}
		return 0
	})
}

// Etcd selects an etcd cluster instead of the embedded store.
type Etcd struct {
	// Servers are the client URLs of its members; empty for the embedded store.
	Servers []string
	// CAFile has the CA certificates of the members, if they are not among the machine's;
	// CertFile and KeyFile are the client's own.
	CAFile, CertFile, KeyFile string
	// Prefix is the prefix of all keys; "" is DefaultEtcdPrefix.
	Prefix string
	// Overrides are the clusters of single resources; Servers are those of the others.
	Overrides []EtcdOverride
}

// DefaultEtcdPrefix is kube-apiserver's.
const DefaultEtcdPrefix = "/registry"

// root is the prefix of all keys, with slashes at both ends.
func (e Etcd) root() string {
	return strings.TrimRight("/"+strings.Trim(cmp.Or(e.Prefix, DefaultEtcdPrefix), "/"), "/") + "/"
}

// openStore opens the store of the options; its error has one line.
func openStore(ctx context.Context, o Options) (store, error) {
	if len(o.Etcd.Servers) > 0 {
		if o.State != nil {
			return nil, ErrInEtcd
		}
		if o.InMemory {
			return nil, errors.New("an etcd cluster and a store in memory exclude each other: choose one")
		}
		return openEtcd(ctx, o, o.Etcd.Servers)
	}
	return openLocal(o)
}

func openLocal(o Options) (store, error) {
	if o.InMemory {
		options := local.Options{InMemory: true, History: o.History, MaxBytes: o.MaxStoreBytes, Trace: o.Trace}
		if o.State != nil {
			return local.RestoreInMemory(options, o.State.content.Revision, o.State.content.KVs, o.State.content.Leases), nil
		}
		s, err := local.Open("", options)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	dir := filepath.Join(o.DataDir, storeDir)
	if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if o.State != nil {
		if err := o.State.Replace(o.DataDir, o.Loading); err != nil {
			return nil, err
		}
	}
	s, err := local.Open(dir, local.Options{History: o.History, Fsync: o.Fsync, NoSync: o.NoSync, AcceptTornTail: o.AcceptTornTail, Progress: o.Loading, Trace: o.Trace, Logger: o.Log})
	if errors.Is(err, local.ErrInUse) {
		return nil, fmt.Errorf("%s is in use by another process: stop it, or choose another with --data-dir", o.DataDir)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

func openEtcd(ctx context.Context, o Options, servers []string) (store, error) {
	config, err := o.Etcd.tls(servers)
	if err != nil {
		return nil, err
	}
	s, err := etcd.Open(ctx, etcd.Options{
		Endpoints: servers,
		TLS:       config,
		Root:      watchcache.Root,
		Prefix:    o.Etcd.root(),
		History:   o.History,
		Logger:    o.Log,
	})
	if err != nil {
		return nil, err
	}
	return heldStore{&holder.Store{Store: s}, s}, nil
}

// tls is the TLS configuration for the members; nil if no URL is https.
func (e Etcd) tls(servers []string) (*tls.Config, error) {
	secure := false
	for _, url := range servers {
		secure = secure || strings.HasPrefix(url, "https://")
	}
	if !secure {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if e.CAFile != "" {
		pem, err := os.ReadFile(e.CAFile)
		if err != nil {
			return nil, fmt.Errorf("etcd's CA: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("etcd's CA: no certificate in %s", e.CAFile)
		}
	}
	if e.CertFile != "" || e.KeyFile != "" {
		cert, err := tls.LoadX509KeyPair(e.CertFile, e.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("the client certificate for etcd: %w", err)
		}
		config.Certificates = []tls.Certificate{cert}
	}
	return config, nil
}
