package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/auth"
)

// ClockPath reports the server's time (GET), and advances the clock of a server with Config.Clock (POST of a
// ClockAdvance). Both answer with a ClockState. A server without Config.Clock answers 403.
const ClockPath = "/debug/clock"

// Clock is a clock that stands still until it is advanced.
type Clock interface {
	// Advance moves the clock forward by d, which is positive, and returns when the work of that time is done. Once ctx
	// ends, it stops the clock earlier, without an error. An error means that the clock has not moved.
	Advance(ctx context.Context, d time.Duration) error
}

// ClockAdvance is a request to advance the clock.
type ClockAdvance struct {
	// By is how far, as a Go duration.
	By metav1.Duration `json:"by"`
	// Watch is the path and query of a watch; the clock stops at its first event.
	Watch string `json:"watch,omitempty"`
}

// ClockState is a clock's state.
type ClockState struct {
	// Time is the server's time.
	Time metav1.MicroTime `json:"time"`
	// Advanced is how far the request has advanced it.
	Advanced metav1.Duration `json:"advanced"`
	// Event reports that the request's watch had an event.
	Event bool `json:"event,omitempty"`
}

// clock serves ClockPath.
func (c *serving) clock() error {
	if c.s.cfg.Clock == nil {
		return apistatus.New(http.StatusForbidden, metav1.StatusReasonForbidden, "the server runs in real time; start it with --clock=virtual")
	}
	switch c.HTTP.Method {
	case http.MethodGet:
		return c.WriteJSON(http.StatusOK, ClockState{Time: metav1.NowMicro()})
	case http.MethodPost:
	default:
		return apistatus.MethodNotAllowed()
	}
	body, err := c.Body()
	if err != nil {
		return err
	}
	var q ClockAdvance
	in := json.NewDecoder(bytes.NewReader(body))
	in.DisallowUnknownFields()
	if err := in.Decode(&q); err != nil {
		return apierrors.NewBadRequest("no advance of a clock: " + err.Error())
	}
	if q.By.Duration <= 0 {
		return apierrors.NewBadRequest(fmt.Sprintf("the clock cannot be moved by %v: it only moves forward", q.By.Duration))
	}
	ctx, stop := context.WithCancel(c.HTTP.Context())
	defer stop()
	w := &firstEvent{stop: stop, established: make(chan struct{}), header: http.Header{}}
	if q.Watch != "" {
		u, err := url.ParseRequestURI(q.Watch)
		if err != nil || u.Host != "" || u.Query().Get("watch") != "true" {
			return apierrors.NewBadRequest(fmt.Sprintf("watch %q: want the path and query of a watch", q.Watch))
		}
		watch := c.HTTP.Clone(auth.WithUser(ctx, c.User)) // the user may be impersonated
		watch.Method, watch.URL, watch.RequestURI, watch.Body, watch.ContentLength = http.MethodGet, u, q.Watch, http.NoBody, 0
		watch.Header.Del("Content-Type")
		watch.Header.Set("Accept", "application/json")
		ended := make(chan struct{})
		defer func() { stop(); <-ended }()
		go func() {
			defer close(ended)
			c.s.ServeHTTP(w, watch)
			w.WriteHeader(http.StatusOK)
			stop()
		}()
		<-w.established
		if w.status != http.StatusOK {
			<-ended
			c.Writer.Header().Set("Content-Type", w.header.Get("Content-Type"))
			c.Writer.WriteHeader(w.status)
			_, err := c.Writer.Write(w.body.Bytes())
			return err
		}
	}
	began := time.Now()
	if err := c.s.cfg.Clock.Advance(ctx, q.By.Duration); err != nil {
		return apistatus.New(http.StatusConflict, metav1.StatusReasonConflict, err.Error())
	}
	now := time.Now()
	return c.WriteJSON(http.StatusOK, ClockState{Time: metav1.NewMicroTime(now), Advanced: metav1.Duration{Duration: now.Sub(began)}, Event: w.seen()})
}

// firstEvent is the response of a watch. It calls stop at the first event.
type firstEvent struct {
	stop        func()
	header      http.Header
	established chan struct{} // closed once status is known
	once        sync.Once
	status      int
	mu          sync.Mutex
	body        bytes.Buffer // guarded by mu
}

func (w *firstEvent) Header() http.Header { return w.header }

func (w *firstEvent) WriteHeader(status int) {
	w.once.Do(func() {
		w.status = status
		close(w.established)
	})
}

func (w *firstEvent) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.body.Write(b)
	w.stop()
	return len(b), nil
}

// Flush implements http.Flusher.
func (w *firstEvent) Flush() { w.WriteHeader(http.StatusOK) }

func (w *firstEvent) seen() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.body.Len() > 0
}
