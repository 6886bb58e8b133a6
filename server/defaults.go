package server

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"fairlead.dev/internal/resource/builtin"
)

func setDefaults(cfg *Config) {
	if cfg.Resources == nil {
		cfg.Resources = builtin.Resources()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Metrics == nil {
		cfg.Metrics = prometheus.NewRegistry()
		cfg.Metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	}
	setDefault(&cfg.WatchTimeout, 30*time.Minute)
	setDefault(&cfg.WriteTimeout, 30*time.Second)
	setDefault(&cfg.BookmarkEvery, time.Minute)
	setDefault(&cfg.EventTTL, time.Hour)
	setDefault(&cfg.RequestTimeout, time.Minute)
}

func setDefault(d *time.Duration, to time.Duration) {
	if *d == 0 {
		*d = to
	}
}
