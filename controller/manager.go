package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/client/leader"
	"fairlead.dev/client/report"
	"fairlead.dev/informer"
)

// ManagerOptions configure a Manager. The zero value has no leader election, and a metrics registry of its own.
type ManagerOptions struct {
	// Client configures the client.
	Client client.Options
	// Lease, if it has a name, is the lease for leader election between several processes. An empty Identity
	// becomes the host name with a random suffix.
	Lease leader.Candidate
	// Namespace, if set, restricts Informers to one namespace.
	Namespace string
	// Report sends the effects of events in this process to the server, for fairlead trace, by package
	// client/report. It has no effect with other API servers.
	Report bool
	// Registry receives the metrics. Nil means a new one.
	Registry *prometheus.Registry
	// Log receives all log lines. Nil means slog.Default.
	Log *slog.Logger
}

// Manager runs a process's controllers with their shared parts: a client, informers, an event recorder, metrics,
// and a lease for leader election.
//
//	m, err := controller.NewManager(cfg, "mirror", controller.ManagerOptions{})
//	pods := controller.ObjectsOf[*corev1.Pod](m.Env)
//	m.New("mirror", controller.ByObject(pods, reconcile), controller.Options{}).Watch(controller.For(pods))
//	go http.ListenAndServe(":8080", m.Handler())
//	err = m.Run(ctx)
type Manager struct {
	Env
	// Metrics exports the metrics of the Manager's controllers.
	Metrics *Metrics

	name     string
	lease    leader.Candidate
	report   bool
	registry *prometheus.Registry
	leading  prometheus.Gauge

	ready   atomic.Bool // the informers have been synced
	runners Runners
	once    sync.Once
}

// NewManager returns a Manager without controllers, for the server in cfg. name is the component in events and
// requests, and the default name of the lease.
func NewManager(cfg *rest.Config, name string, o ManagerOptions) (*Manager, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Registry == nil {
		o.Registry = prometheus.NewRegistry()
	}
	if o.Client.UserAgent == "" {
		o.Client.UserAgent = name
	}
	if o.Report && o.Client.Trace == nil {
		o.Client.Trace = report.Log()
	}
	requests, observe := client.NewMetrics(), o.Client.Observe
	o.Client.Observe = func(ctx context.Context, x client.Exchange) {
		requests.Observe(ctx, x)
		if observe != nil {
			observe(ctx, x)
		}
	}
	m := &Manager{
		name: name, lease: o.Lease, report: o.Report, registry: o.Registry, Metrics: NewMetrics(),
		leading: prometheus.NewGauge(prometheus.GaugeOpts{Name: "leader_election_master_status",
			Help: "1 while this process holds the lease", ConstLabels: prometheus.Labels{"name": o.Lease.Name}}),
	}
	for _, c := range []prometheus.Collector{m.Metrics, requests, m.leading} {
		if err := o.Registry.Register(c); err != nil {
			return nil, fmt.Errorf("manager %s: %w", name, err)
		}
	}
	c, err := client.New(cfg, o.Client)
	if err != nil {
		return nil, err
	}
	if m.lease.Name != "" && m.lease.Identity == "" {
		host, err := os.Hostname()
		if err != nil {
			return nil, fmt.Errorf("manager %s: %w", name, err)
		}
		m.lease.Identity = host + "_" + uuid.NewString()
	}
	if m.lease.Log == nil {
		m.lease.Log = o.Log
	}
	m.Env = Env{Client: c, Informers: informer.NewSet(c).Within(o.Namespace), Recorder: client.NewRecorder(c, name), Log: o.Log}
	if err := o.Registry.Register(m.Informers); err != nil {
		return nil, fmt.Errorf("manager %s: %w", name, err)
	}
	return m, nil
}

// New returns a controller that the Manager runs, with the Manager's metrics and log unless o has its own. It must
// be called before Run.
func (m *Manager) New(name string, r Reconcile, o Options) *Controller {
	if o.Log == nil {
		o.Log = m.Log
	}
	if o.Metrics == nil {
		o.Metrics = m.Metrics
	}
	c := New(name, r, o)
	m.Add(c)
	return c
}

// Add adds r to the runners of Run. It must be called before Run.
func (m *Manager) Add(r Runner) { m.runners = append(m.runners, r) }

// Run runs the informers at once, and the added runners while this process holds the lease, until ctx ends; then it
// stops in reverse order, releases the lease, and returns nil. If a runner fails, it stops the others and returns
// the error; if the lease is lost, it returns leader.ErrDeposed: the state in memory may be stale from then on, so
// the process should exit and restart. A Manager runs once.
func (m *Manager) Run(ctx context.Context) error {
	err := fmt.Errorf("manager %s: Run called twice", m.name)
	m.once.Do(func() { err = m.run(ctx) })
	return err
}

func (m *Manager) run(ctx context.Context) error {
	if m.report {
		telling, stop := context.WithCancel(context.WithoutCancel(ctx))
		told := make(chan struct{})
		go func() {
			report.Run(telling, m.Client, m.name)
			close(told)
		}()
		defer func() { stop(); <-told }() // after all others have ended
	}
	defer m.Recorder.Close()
	m.Informers.Start(ctx)
	defer m.Informers.Stop()
	if err := m.Informers.Wait(ctx); err != nil {
		return nil // ctx ended
	}
	m.ready.Store(true)
	defer m.ready.Store(false)
	if m.lease.Name == "" {
		return m.runners.Run(ctx)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	err := leader.Run(ctx, m.Client, m.lease, func(led context.Context) error {
		m.leading.Set(1)
		defer m.leading.Set(0)
		err := m.runners.Run(led)
		if err == nil && ctx.Err() == nil { // led ended by itself
			stop(leader.ErrDeposed)
		}
		return err
	})
	if cause := context.Cause(ctx); err == nil && errors.Is(cause, leader.ErrDeposed) {
		return cause
	}
	return err
}

// Handler serves the endpoints of an operator's Deployment: /metrics, /healthz, which returns 200 while the process
// serves it, and /readyz, which returns 200 while the informers are synced.
func (m *Manager) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !m.ready.Load() {
			http.Error(w, "[-]informers are not synced", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, "ok")
	})
	return mux
}
