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
	// CBOR adds CBOR to the described encodings. It is set before the first request.
	CBOR   bool
	scheme *runtime.Scheme
	mu     struct {
		sync.Mutex
		resources []*resource.Resource
		remotes   []Remote
		state     *state // nil until a document of these resources is requested
		before    *state
	}
}

// New returns a Handler for the resources, whose Go types must be registered in the scheme.
func New(resources []*resource.Resource, scheme *runtime.Scheme) *Handler {
	h := &Handler{scheme: scheme}
	h.Set(resources)
	return h
}

// Set replaces the described resources. Documents of unchanged groups are kept. The work is deferred to the next
// request.
func (h *Handler) Set(resources []*resource.Resource) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.resources = resources
	h.renew()
}

// SetRemotes replaces the documents of aggregated servers. If two of them define a thing differently, the first
// counts, and this server's definition before all.
func (h *Handler) SetRemotes(remotes []Remote) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.remotes = remotes
	h.renew()
}

// renew makes the next request build a new state. h.mu is held.
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

// ServeHTTP serves one document.
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
		case d.hash: // the content of this URL never changes
			w.Header().Set("Cache-Control", "public, immutable")
			w.Header().Set("Expires", time.Now().AddDate(1, 0, 0).UTC().Format(http.TimeFormat))
		default:
			http.Redirect(w, r, at+"?hash="+d.hash, http.StatusMovedPermanently)
			return
		}
		d.serve(w, r, "application/com.github.proto-openapi.spec.v3")
	}
}

// unchanged sets the ETag. It ends the request with 304 if the client has that version.
func unchanged(w http.ResponseWriter, r *http.Request, tag string) bool {
	tag = `"` + tag + `"`
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return true
	}
	return false
}

// accept returns the first media type that the client accepts, or "". The protobuf type has an
// older and a newer spelling.
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
