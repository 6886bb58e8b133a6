package instance

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"fairlead.dev/internal/controlplane/pki"
)

// Commands are the actions of an instance's process for other processes of the user. A nil one is refused.
type Commands struct {
	// Stop begins the end of the process.
	Stop func()
	// Reset removes all objects.
	Reset func(context.Context) error
	// Save writes the cluster to a file, Load replaces it by that of a file.
	Save, Load func(ctx context.Context, file string, progress Progress) (Saved, error)
	// Certificates describes the certificates and keys, and Renew replaces some of them.
	Certificates func() ([]pki.Item, error)
	Renew        func(context.Context, pki.Renewal) error
}

// Progress is called from time to time during long work with the part that is done and the total.
type Progress func(done, total int64)

// Saved describes a saved cluster.
type Saved struct {
	Revision int64 `json:"revision"`
	Keys     int64 `json:"keys"`
	Bytes    int64 `json:"bytes"`
}

// Status is the state of a running process.
type Status struct {
	// Ready is false until the control plane serves. Record is that of the last start until then.
	Ready bool `json:"ready"`
	Record
}

// fileRequest is the body of a request to save or load.
type fileRequest struct {
	File string `json:"file"`
}

// fileResponse is a line of the response to a request to save or load: the progress of the work, or the last line, which has
// the result or the error.
type fileResponse struct {
	Done  int64  `json:"done,omitempty"`
	Total int64  `json:"total,omitempty"`
	Saved *Saved `json:"saved,omitempty"`
	Error string `json:"error,omitempty"`
}

// failure is the body of the response to a command that failed.
type failure struct {
	Error string `json:"error"`
}

func (h *Held) handler(c Commands) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		ready := h.ready.Load()
		if ready == nil {
			last, err := h.Record()
			respond(w, Status{Record: last}, err)
			return
		}
		respond(w, Status{true, *ready}, nil)
	})
	mux.HandleFunc("POST /stop", func(_ http.ResponseWriter, r *http.Request) {
		c.Stop()
		<-r.Context().Done() // the end of the connection is that of the process
	})
	mux.HandleFunc("POST /reset", func(w http.ResponseWriter, r *http.Request) {
		if c.Reset == nil {
			respond(w, nil, errNotChangeable)
			return
		}
		respond(w, struct{}{}, c.Reset(r.Context()))
	})
	mux.HandleFunc("GET /pki", func(w http.ResponseWriter, _ *http.Request) {
		if c.Certificates == nil {
			respond(w, nil, errNotChangeable)
			return
		}
		items, err := c.Certificates()
		respond(w, items, err)
	})
	mux.HandleFunc("POST /pki/renew", func(w http.ResponseWriter, r *http.Request) {
		var q pki.Renewal
		err := json.NewDecoder(r.Body).Decode(&q)
		switch {
		case c.Renew == nil:
			err = errNotChangeable
		case err == nil:
			err = c.Renew(context.WithoutCancel(r.Context()), q) // a half is no use to anyone
		}
		respond(w, struct{}{}, err)
	})
	mux.HandleFunc("POST /save", onFile(c.Save))
	mux.HandleFunc("POST /load", onFile(c.Load))
	return mux
}

var errNotChangeable = errors.New("a server with --clock=virtual can be neither reset, saved nor loaded, and its certificates cannot be renewed: stop it and start another")

func onFile(do func(context.Context, string, Progress) (Saved, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var q fileRequest
		err := json.NewDecoder(r.Body).Decode(&q)
		if err == nil && do == nil {
			err = errNotChangeable
		}
		lines := json.NewEncoder(w) // to a client that may be gone
		last := fileResponse{Saved: new(Saved)}
		if err == nil {
			*last.Saved, err = do(r.Context(), q.File, func(done, total int64) {
				_ = lines.Encode(fileResponse{Done: done, Total: total})
				_ = http.NewResponseController(w).Flush()
			})
		}
		if err != nil {
			last = fileResponse{Error: err.Error()}
		}
		_ = lines.Encode(last)
	}
}

func respond(w http.ResponseWriter, result any, err error) {
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		result = failure{err.Error()}
	}
	_ = json.NewEncoder(w).Encode(result) // to a client that may be gone
}
