package openapi

import (
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/resource"
)

// Handler serves /openapi/v2, /openapi/v3 and the documents below it.
type Handler struct{}

// New returns a Handler for the resources, whose Go types the scheme knows.
func New(resources []*resource.Resource, scheme *runtime.Scheme) *Handler {
	return &Handler{}
}

// Set replaces what is served.
func (h *Handler) Set(resources []*resource.Resource) {}

// ServeHTTP answers one request for a document.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }
