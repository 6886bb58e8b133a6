package discovery

import (
	"net/http"
	"sync/atomic"

	"fairlead.dev/resource"
)

// Handler serves /api, /apis and everything discovery has below them.
type Handler struct {
	state atomic.Pointer[state]
}

type state struct{}

// New returns a Handler for the resources.
func New(resources []*resource.Resource) *Handler {
	h := &Handler{}
	h.Set(resources)
	return h
}

// Set replaces what is served, as when a CRD comes or goes.
func (h *Handler) Set(resources []*resource.Resource) { h.state.Store(&state{}) }

// Serves says whether the path is one of discovery's: /api, /apis, /api/v1,
// /apis/g or /apis/g/v, of a group and version that exist.
func (h *Handler) Serves(path string) bool { return false }

// ServeHTTP answers one discovery request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }
