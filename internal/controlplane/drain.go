package controlplane

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/internal/server/request"
	"fairlead.dev/server"
)

// Termination is how Stop ends the port for clients. The zero value ends it at once: requests in progress have less than a
// second. With another one they have Limits.RequestTimeout, except for watches and others without an end.
type Termination struct {
	// Delay is how long requests are answered as before while /readyz fails.
	Delay time.Duration
	// RetryAfter answers new requests by 429 until those in progress have ended; without it new connections are refused.
	RetryAfter bool
	// Watches is the time over which open watches end, evenly, after the requests in progress; meanwhile the server answers
	// new watches by 503 with Retry-After. 0 ends all at once.
	Watches time.Duration
}

// drain counts the requests in progress and, at the end, refuses new ones. A nil drain does neither.
type drain struct {
	Termination
	mu struct {
		sync.Mutex
		requests int
		refuses  bool
		// watchesEnd: the open watches are being ended.
		watchesEnd bool
		// empty is closed at the end of the last request; nil while requests are only counted.
		empty chan struct{}
	}
}

func newDrain(t Termination) *drain {
	if t == (Termination{}) {
		return nil
	}
	return &drain{Termination: t}
}

// over returns h with its requests counted.
func (d *drain) over(h http.Handler) http.Handler {
	if d == nil {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isProbe(r.URL.Path) {
			h.ServeHTTP(w, r)
			return
		}
		info, ok := request.ParseInfo(r, r.URL.Query())
		if ok && info.Verb == "watch" && d.endsWatches() {
			refuseWatch(w)
			return
		}
		counts := ok && !info.LongRunning()
		if !d.enter(counts) {
			w.Header().Set("Connection", "close")
			w.Header().Set("Retry-After", "5")
			http.Error(w, "The apiserver is shutting down, please try again later.", http.StatusTooManyRequests)
			return
		}
		if counts {
			defer d.leave()
		}
		h.ServeHTTP(w, r)
	})
}

// refuseWatch answers as kube-apiserver does for a new watch while others are being ended.
func refuseWatch(w http.ResponseWriter) {
	s := apierrors.NewServiceUnavailable("apiserver is shutting down").Status()
	s.Kind, s.APIVersion = "Status", "v1"
	body, err := json.Marshal(s)
	if err != nil {
		panic(err) // a Status can be marshalled
	}
	h := w.Header()
	h.Set("Connection", "close")
	h.Set("Retry-After", "1")
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(int(s.Code))
	_, _ = w.Write(append(body, '\n')) // an error is that the client has gone
}

// isProbe reports whether requests for the path are answered to the end.
func isProbe(path string) bool {
	for _, prefix := range []string{"/readyz", "/livez", "/healthz", "/metrics"} {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}

// enter begins a request, unless it is refused.
func (d *drain) enter(counts bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mu.refuses {
		return false
	}
	if counts {
		d.mu.requests++
	}
	return true
}

func (d *drain) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.requests--
	if d.mu.requests == 0 && d.mu.empty != nil {
		close(d.mu.empty)
		d.mu.empty = nil
	}
}

// endsWatches reports whether the open watches are being ended.
func (d *drain) endsWatches() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.mu.watchesEnd
}

// endWatches refuses new watches, and ends the open ones.
func (d *drain) endWatches(s *server.Server) {
	d.mu.Lock()
	d.mu.watchesEnd = true
	d.mu.Unlock()
	s.DrainWatches(d.Watches)
}

// wait refuses new requests, if that is the termination, and waits until those in progress have ended, or ctx.
func (d *drain) wait(ctx context.Context) {
	d.mu.Lock()
	d.mu.refuses = d.RetryAfter
	empty := make(chan struct{})
	if d.mu.requests == 0 {
		close(empty)
	} else {
		d.mu.empty = empty
	}
	d.mu.Unlock()
	select {
	case <-empty:
	case <-ctx.Done():
	}
}
