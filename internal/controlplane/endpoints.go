package controlplane

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
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
	Serving  Serving
	// NoHTTP2 serves HTTP/1.1 only. MaxStreams is how many requests a connection over HTTP/2 has at once; 0 is Go's number.
	NoHTTP2    bool
	MaxStreams int
	// Debug serves the paths below /debug/ after authorization; nil leaves them out.
	Debug http.Handler
}

// serve serves the endpoints of a part, with the API server's users, until ctx ends.
func (e *Endpoints) serve(ctx context.Context, c *client.Client, log *slog.Logger, m partMetrics, config map[string]json.RawMessage) error {
	version := kubernetesVersion(gates.API{})
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.requests, m.scheduler, m.groups, m.pools, m.labels, metrics.NewQueueMetrics(c.Trace()), metrics.BuildInfo(version),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	group, ctx := errgroup.WithContext(ctx)
	secure, err := e.tlsConfig(ctx, group, log)
	if err != nil {
		e.Listener.Close()
		return err
	}
	group.Go(func() error {
		return component.Run(ctx, component.Options{
			Listener: e.Listener, TLS: secure, NoHTTP2: e.NoHTTP2, MaxStreams: e.MaxStreams,
			Client: c, Metrics: registry, Debug: e.Debug, Config: config, Version: version, Log: log,
		})
	})
	return group.Wait()
}

// tlsConfig returns the configuration of TLS. Without a certificate from a file the process issues one.
func (e *Endpoints) tlsConfig(ctx context.Context, group *errgroup.Group, log *slog.Logger) (*tls.Config, error) {
	var read servingCertificates
	if files := e.Serving.files(); len(files) > 0 {
		watcher := reload.New(files...)
		load := func() error {
			loaded, err := e.Serving.load()
			if err == nil {
				read.read.Store(&loaded)
			}
			return err
		}
		if err := load(); err != nil {
			return nil, err
		}
		group.Go(func() error {
			watcher.Run(ctx, load, func(err error) {
				if err != nil {
					log.Warn("the serving certificate was not read again", "error", err)
				}
			})
			return nil
		})
	}
	authority, err := pki.New(time.Now)
	if err != nil {
		return nil, err
	}
	return e.Serving.config(func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		if c := read.choose(hello); c != nil {
			return c, nil
		}
		host, _, _ := net.SplitHostPort(hello.Conn.LocalAddr().String())
		return authority.Serving(host, "localhost")
	}), nil
}
