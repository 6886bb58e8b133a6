package controlplane

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"fairlead.dev/client"
	"fairlead.dev/internal/controlplane/component"
	"fairlead.dev/internal/controlplane/pki"
	"fairlead.dev/internal/reload"
	"fairlead.dev/internal/resource/gates"
	"fairlead.dev/internal/server/metrics"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/sync/errgroup"
)

// reportedDeliveries is how many arrivals and reconciles of a part in a process of its own wait for their report.
const reportedDeliveries = 8192

// Endpoints are where a part that runs in a process of its own serves its health checks and metrics over HTTPS.
type Endpoints struct {
	Listener net.Listener
	// Certificate has the files of the certificate, which are read again when they change; without them the process
	// makes a certificate of its own.
	Certificate CertificateFiles
}

// serve serves the endpoints of a part, with the API server's users, until ctx ends.
func (e *Endpoints) serve(ctx context.Context, c *client.Client, log *slog.Logger, m partMetrics, config map[string]json.RawMessage) error {
	version := kubernetesVersion(gates.API{})
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.requests, m.scheduler, metrics.NewQueueMetrics(c.Trace()), metrics.BuildInfo(version),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	group, ctx := errgroup.WithContext(ctx)
	certificate, err := e.certificate(ctx, group, log)
	if err != nil {
		e.Listener.Close()
		return err
	}
	group.Go(func() error {
		return component.Run(ctx, component.Options{
			Listener: e.Listener, Certificate: certificate, Client: c, Metrics: registry, Version: version, Config: config, Log: log,
		})
	})
	return group.Wait()
}

// certificate returns the function that chooses the certificate of a connection.
func (e *Endpoints) certificate(ctx context.Context, group *errgroup.Group, log *slog.Logger) (func(*tls.ClientHelloInfo) (*tls.Certificate, error), error) {
	if e.Certificate.CertFile == "" {
		authority, err := pki.New(time.Now)
		if err != nil {
			return nil, err
		}
		return func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			host, _, _ := net.SplitHostPort(hello.Conn.LocalAddr().String())
			return authority.Serving(host, "localhost")
		}, nil
	}
	watcher := reload.New(e.Certificate.CertFile, e.Certificate.KeyFile)
	var current atomic.Pointer[tls.Certificate]
	read := func() error {
		loaded, err := e.Certificate.load()
		if err == nil {
			current.Store(loaded)
		}
		return err
	}
	if err := read(); err != nil {
		return nil, err
	}
	group.Go(func() error {
		watcher.Run(ctx, read, func(err error) {
			if err != nil {
				log.Warn("the serving certificate was not read again", "error", err)
			}
		})
		return nil
	})
	return func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return current.Load(), nil }, nil
}
