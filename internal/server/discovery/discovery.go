package discovery

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/apiregistration"
)

// Handler serves /api, /apis and the discovery documents below them.
type Handler struct {
	state atomic.Pointer[func() *state]
	mu    struct {
		sync.Mutex
		resources []*resource.Resource
		remotes   []Remote
		unlisted  []schema.GroupVersion
	}
}

// Remote is a version of a group that another server serves.
type Remote struct {
	Group string
	// Version is the last known discovery document of that server.
	Version  apidiscoveryv2.APIVersionDiscovery
	Priority apiregistration.Priority
}

// state is one set of resources with the documents built from it.
type state struct {
	catalog catalog
	mu      struct {
		sync.Mutex
		documents map[documentKey]*document
	}
}

type documentKey struct {
	path string
	form form
}

// document is an encoded document.
type document struct {
	body []byte
	etag string // may be ""
}

// New returns a Handler for the resources.
func New(resources []*resource.Resource) *Handler {
	h := &Handler{}
	h.Set(resources)
	return h
}

// For returns a Handler for resources of another server. While they are those of h, which may be nil, the two share the
// documents.
func (h *Handler) For(resources []*resource.Resource) *Handler {
	other := &Handler{}
	if h != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		if len(h.mu.remotes) == 0 && len(h.mu.unlisted) == 0 {
			other.mu.resources = h.mu.resources
			other.state.Store(h.state.Load())
		}
	}
	other.Set(resources)
	return other
}

// Set replaces the served resources, as when a CRD is created or deleted.
func (h *Handler) Set(resources []*resource.Resource) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.state.Load() != nil && slices.Equal(resources, h.mu.resources) {
		return
	}
	h.mu.resources = resources
	h.renew()
}

// SetRemotes replaces the versions of other servers. A remote version hides the local resources of the same
// version.
func (h *Handler) SetRemotes(remotes []Remote) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(remotes) == 0 && len(h.mu.remotes) == 0 {
		return
	}
	h.mu.remotes = remotes
	h.renew()
}

// Unlist sets the versions that the unaggregated /apis omits, together with their group unless it has other
// versions. They are still served and described.
func (h *Handler) Unlist(versions []schema.GroupVersion) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if slices.Equal(versions, h.mu.unlisted) {
		return
	}
	h.mu.unlisted = versions
	h.renew()
}

// renew replaces the state by one that the next request builds. h.mu is held.
func (h *Handler) renew() {
	resources, remotes, unlisted := h.mu.resources, h.mu.remotes, h.mu.unlisted
	build := sync.OnceValue(func() *state {
		s := &state{catalog: newCatalog(resources, remotes, unlisted)}
		s.mu.documents = map[documentKey]*document{}
		return s
	})
	h.state.Store(&build)
}

func clean(path string) string { return strings.TrimSuffix(path, "/") }

// ServeHTTP serves one discovery document.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s := (*h.state.Load())()
	path := clean(r.URL.Path)
	obj := s.catalog.document(path, r.Host)
	if obj == nil {
		http.NotFound(w, r)
		return
	}
	// The lists of groups and of a group's versions respond to any method.
	lists := strings.HasPrefix(path, "/apis") && strings.Count(path, "/") < 3
	if r.Method != http.MethodGet && !lists {
		fail(w, notAllowed())
		return
	}
	f, known, ok := negotiate(r.Header.Values("Accept"), path == "/api" || path == "/apis")
	if !ok {
		fail(w, notAcceptable(known || lists))
		return
	}
	d, err := s.get(documentKey{path, f}, obj)
	if err != nil {
		fail(w, err)
		return
	}
	head := w.Header()
	if f.aggregated {
		head.Add("Vary", "Accept")
		head.Set("ETag", d.etag)
		head.Set("Cache-Control", "public")
		if r.Header.Get("If-None-Match") == d.etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	head.Set("Content-Type", f.contentType())
	w.Write(d.body)
}

// get returns the document, which is encoded on first use. Documents that depend on the request (the address in
// /api) are not kept.
func (s *state) get(k documentKey, legacy runtime.Object) (*document, error) {
	s.mu.Lock()
	d := s.mu.documents[k]
	s.mu.Unlock()
	if d != nil {
		return d, nil
	}
	obj := legacy
	if k.form.aggregated {
		obj = s.catalog.aggregated(k.path == "/api")
	}
	d, err := encode(obj, k.form)
	if err != nil || k.path == "/api" && !k.form.aggregated {
		return d, err
	}
	s.mu.Lock()
	s.mu.documents[k] = d
	s.mu.Unlock()
	return d, nil
}
