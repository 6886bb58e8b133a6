package controlplane

import (
	"context"
	"log/slog"
	"strings"
	"sync"

	"fairlead.dev/internal/reload"
	"github.com/prometheus/client_golang/prometheus"
)

// reloads are the configuration files that are read again when they change. A file that cannot be used is reported, and
// its last good content stays in force. A fork shares the files of the server that it is a fork of.
type reloads struct {
	all    []reloaded
	total  *prometheus.CounterVec // by configuration and result
	latest *prometheus.GaugeVec   // by configuration and result, in seconds since 1970
}

// reloaded are files that are read together.
type reloaded struct {
	name    string
	files   []string
	watcher *reload.Watcher
	load    func(context.Context) error
}

func newReloads() *reloads {
	labels := []string{"config", "result"}
	return &reloads{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "fairlead_config_reloads_total", Help: "Changes of configuration files that were read, by configuration and result (success or failure).",
		}, labels),
		latest: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "fairlead_config_reload_last_timestamp_seconds", Help: "Time of the last change of configuration files that was read, by configuration and result.",
		}, labels),
	}
}

// read calls load, which reads the files, now and, in run, after each change of them. Its error must name the file.
func (r *reloads) read(name string, load func() error, files ...string) error {
	r.follow(name, func(context.Context) error { return load() }, files...)
	return load()
}

// follow calls load after each change of the files, beginning with those since follow was called. Its error must name the
// file. load ends with its context.
func (r *reloads) follow(name string, load func(context.Context) error, files ...string) {
	r.all = append(r.all, reloaded{name, files, reload.New(files...), load})
}

// register registers the metrics.
func (r *reloads) register(reg *prometheus.Registry) { reg.MustRegister(r.total, r.latest) }

// run reads changed files until ctx ends. It calls changed after each that could be used.
func (r *reloads) run(ctx context.Context, log *slog.Logger, changed func()) {
	var group sync.WaitGroup
	for _, one := range r.all {
		group.Go(func() {
			one.watcher.Run(ctx, func() error { return one.load(ctx) }, func(err error) {
				result := "success"
				if err != nil {
					result = "failure"
					log.Error("a changed file cannot be used; the last good content stays in force", "config", one.name, "err", err)
				} else {
					log.Info("read a changed file", "config", one.name, "files", strings.Join(one.files, ", "))
					changed()
				}
				r.total.WithLabelValues(one.name, result).Inc()
				r.latest.WithLabelValues(one.name, result).SetToCurrentTime()
			})
		})
	}
	group.Wait()
}
