package component

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/version"

	"fairlead.dev/client"
	"fairlead.dev/internal/server/debugging"
	"fairlead.dev/internal/server/metrics"
)

// Options describe the endpoints of a component.
type Options struct {
	// Listener accepts the connections; Run closes it.
	Listener net.Listener
	// TLS has the certificates. It asks for those of clients and leaves their verification to the handler.
	TLS *tls.Config
	// NoHTTP2 serves HTTP/1.1 only. MaxStreams is how many requests a connection over HTTP/2 has at once; 0 is Go's number.
	NoHTTP2    bool
	MaxStreams int
	// Client is the component's own, of the API server.
	Client *client.Client
	// Metrics are served at /metrics.
	Metrics prometheus.Gatherer
	// Debug serves the paths below /debug/; nil leaves them out.
	Debug   http.Handler
	Version version.Info
	// Config is served at /configz: the configuration by its name, as JSON.
	Config map[string]json.RawMessage
	Log    *slog.Logger
}

// headerTimeout bounds the time for the head of a request, and shutdownTimeout that for requests in progress at the end.
const (
	headerTimeout   = 30 * time.Second
	shutdownTimeout = 2 * time.Second
)

// Run serves until ctx ends.
func Run(ctx context.Context, o Options) error {
	users := newUsers(o.Client, o.Log)
	s := &http.Server{
		Handler:           handler(o, users),
		TLSConfig:         o.TLS,
		Protocols:         new(http.Protocols),
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: o.MaxStreams},
		ReadHeaderTimeout: headerTimeout,
		ErrorLog:          slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetHTTP2(!o.NoHTTP2)
	group, ctx := errgroup.WithContext(ctx)
	stopped := make(chan struct{})
	context.AfterFunc(ctx, func() {
		defer close(stopped)
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		if s.Shutdown(ending) != nil {
			s.Close()
		}
	})
	group.Go(func() error { return users.followTrust(ctx) })
	group.Go(func() error {
		err := s.ServeTLS(o.Listener, "", "")
		if errors.Is(err, http.ErrServerClosed) {
			<-stopped
			return nil
		}
		return err
	})
	return group.Wait()
}

func handler(o Options, users *users) http.Handler {
	slis := metrics.NewSLIs()
	mux := http.NewServeMux()
	for _, kind := range []string{"healthz", "livez", "readyz"} {
		ping := func(w http.ResponseWriter, r *http.Request) {
			slis.Observe("ping", kind, nil)
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			if _, verbose := r.URL.Query()["verbose"]; verbose {
				fmt.Fprintf(w, "[+]ping ok\n%s check passed\n", kind)
				return
			}
			fmt.Fprint(w, "ok")
		}
		mux.HandleFunc("/"+kind, ping)
		mux.HandleFunc("/"+kind+"/ping", ping)
	}
	mux.Handle("/metrics", users.only(promhttp.HandlerFor(o.Metrics, promhttp.HandlerOpts{})))
	mux.Handle("/metrics/slis", users.only(slis.Handler))
	mux.Handle("/version", users.only(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(o.Version) // an error is that the client has gone
	})))
	if o.Debug != nil {
		mux.Handle(debugging.Prefix, users.only(o.Debug))
	}
	mux.Handle("/configz", users.only(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_ = json.NewEncoder(w).Encode(o.Config)
	})))
	mux.Handle("/", users.only(http.NotFoundHandler()))
	return mux
}
