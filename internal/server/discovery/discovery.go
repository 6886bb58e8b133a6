package discovery

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/apiregistration"
)

// Handler serves /api, /apis and everything discovery has below them.
type Handler struct {
	state atomic.Pointer[state]
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
	// Version is what that server says of it, as far as is known.
	Version  apidiscoveryv2.APIVersionDiscovery
	Priority apiregistration.Priority
}

// state is one set of resources and what has been built of it.
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

// document is one encoded answer.
type document struct {
	body []byte
	etag string // "" if the answer has none
}

// New returns a Handler for the resources.
func New(resources []*resource.Resource) *Handler {
	h := &Handler{}
	h.Set(resources)
	return h
}

// Set replaces what is served, as when a CRD comes or goes.
func (h *Handler) Set(resources []*resource.Resource) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.resources = resources
	h.renew()
}

// SetRemotes replaces what other servers serve. Each takes the place of the resources
// that are served here in the same version.
func (h *Handler) SetRemotes(remotes []Remote) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.remotes = remotes
	h.renew()
}

// Unlist replaces the versions that the older form of /apis does not list, and neither does
// that of their group while it has others. They are served and described all the same.
func (h *Handler) Unlist(versions []schema.GroupVersion) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.unlisted = versions
	h.renew()
}

// renew makes a state of what is set, with the lock held.
func (h *Handler) renew() {
	s := &state{catalog: newCatalog(h.mu.resources, h.mu.remotes, h.mu.unlisted)}
	s.mu.documents = map[documentKey]*document{}
	h.state.Store(s)
}

func clean(path string) string { return strings.TrimSuffix(path, "/") }

// ServeHTTP answers one discovery request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s := h.state.Load()
	path := clean(r.URL.Path)
	obj := s.catalog.document(path, r.Host)
	if obj == nil {
		http.NotFound(w, r)
		return
	}
	// The lists of groups and of a group's versions are there for any method.
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

// get returns the document, encoding it if nobody has asked before. What
// depends on the request (the address in /api) is not kept.
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
