package server

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/subresource"
)

// routeCreates sets up the verbs for creates whose objects are not stored.
func (s *Server) routeCreates() {
	pods := &subresource.Pods{Writer: s.writer, Objects: s.Lookup()}
	pod := schema.GroupResource{Resource: "pods"}
	s.reviews = map[schema.GroupResource]call.Verb{{Resource: "bindings"}: pods.CreateBinding}
	for gr, f := range s.cfg.Reviews {
		s.reviews[gr] = subresource.Review(s.writer, f.answer)
	}
	s.creates = map[Subresource]call.Verb{{pod, "binding"}: pods.Bind, {pod, "eviction"}: pods.Evict}
	for sub, f := range s.cfg.Subresources {
		s.creates[sub] = subresource.Create(s.writer, f.answer)
	}
}
