package etcdserver

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"go.etcd.io/etcd/api/v3/version"

	"fairlead.dev/storage"
)

// newHTTP serves the endpoints of probes.
func (s *Server) newHTTP() *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, version.Versions{
			Server: version.Version, Cluster: version.APIVersion + ".0", Storage: version.APIVersion + ".0",
		})
	})
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, r *http.Request) {
		if err := s.checkHealth(r); err != nil {
			reply(w, http.StatusServiceUnavailable, healthBody{"false", err.Error()})
			return
		}
		reply(w, http.StatusOK, healthBody{"true", ""})
	})
	for _, path := range []string{"GET /livez", "GET /readyz"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if err := s.checkHealth(r); err != nil {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
				return
			}
			io.WriteString(w, "ok\n")
		})
	}
	return &http.Server{
		Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		ErrorLog: slog.NewLogLogger(s.config.Log.Handler(), slog.LevelDebug),
	}
}

type healthBody struct {
	Health string `json:"health"`
	Reason string `json:"reason"`
}

// checkHealth reports whether the store answers and can be written.
func (s *Server) checkHealth(r *http.Request) error {
	if err := s.failure(); err != nil {
		return err
	}
	if _, err := s.store.Range(r.Context(), storage.RangeRequest{Start: "health"}); err != nil {
		return fmt.Errorf("RANGE ERROR:%w", err)
	}
	return nil
}

func reply(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(v)
}
