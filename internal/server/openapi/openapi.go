package openapi

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/resource"
)

// Handler serves /openapi/v2, /openapi/v3 and the documents below it.
type Handler struct {
	// CBOR describes the encoding as one that the server speaks. It is set before the
	// first request.
	CBOR   bool
	scheme *runtime.Scheme
	mu     struct {
		sync.Mutex
		resources []*resource.Resource
		remotes   []Remote
		state     *state // nil if nobody has asked for these resources yet
		before    *state
	}
}

// New returns a Handler for the resources, whose Go types the scheme knows.
func New(resources []*resource.Resource, scheme *runtime.Scheme) *Handler {
	h := &Handler{scheme: scheme}
	h.Set(resources)
	return h
}

// Set replaces what is served. Documents of groups that stay as they were are
// kept. It costs nothing until somebody asks.
func (h *Handler) Set(resources []*resource.Resource) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.resources = resources
	h.renew()
}

// SetRemotes replaces what other servers say of themselves, in the order in which they
// count: of what two say differently, the first is believed, and this server before all.
func (h *Handler) SetRemotes(remotes []Remote) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.remotes = remotes
	h.renew()
}

// renew has the state made anew when somebody asks, with the lock held.
func (h *Handler) renew() {
	if h.mu.state != nil {
		h.mu.before, h.mu.state = h.mu.state, nil
	}
}

func (h *Handler) current() *state {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mu.state == nil {
		v3, v2 := sources(h.mu.resources, h.scheme, h.CBOR)
		h.mu.state = newState(v3, v2, h.mu.remotes, h.mu.before)
		h.mu.before = nil
	}
	return h.mu.state
}

// ServeHTTP answers one request for a document.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s := h.current()
	at := strings.TrimSuffix(r.URL.Path, "/")
	switch {
	case at == "/openapi/v2":
		s.v2.serve(w, r, "application/com.github.proto-openapi.spec.v2")
	case at == "/openapi/v3":
		if !unchanged(w, r, s.tag) {
			w.Header().Set("Content-Type", "application/json")
			w.Write(s.index)
		}
	default:
		d := s.v3[strings.TrimPrefix(at, "/openapi/v3/")]
		if d == nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		switch asked := r.URL.Query().Get("hash"); asked {
		case "":
		case d.hash: // what is under this URL never changes
			w.Header().Set("Cache-Control", "public, immutable")
			w.Header().Set("Expires", time.Now().AddDate(1, 0, 0).UTC().Format(http.TimeFormat))
		default:
			http.Redirect(w, r, at+"?hash="+d.hash, http.StatusMovedPermanently)
			return
		}
		d.serve(w, r, "application/com.github.proto-openapi.spec.v3")
	}
}

// unchanged sets the ETag, and ends the request if the client has that.
func unchanged(w http.ResponseWriter, r *http.Request, tag string) bool {
	tag = `"` + tag + `"`
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return true
	}
	return false
}

// accept picks the first form that the client takes; "" if there is none. The
// protobuf type has an older and a newer spelling.
func accept(headers []string, protobufType string) string {
	all := strings.Join(headers, ",")
	if strings.TrimSpace(all) == "" {
		return "application/json"
	}
	for part := range strings.SplitSeq(all, ",") {
		t, _, _ := strings.Cut(part, ";")
		switch t = strings.TrimSpace(t); t {
		case "application/json", "*/*", "application/*":
			return "application/json"
		case protobufType + ".v1.0+protobuf", protobufType + "@v1.0+protobuf":
			return protobufType + ".v1.0+protobuf"
		}
	}
	return ""
}
