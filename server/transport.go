package server

import (
	"net/http"

	"fairlead.dev/internal/server/memory"
)

// Transport is the wire in memory: a RoundTripper that calls the server's handler for requests
// of the user. With a nil user the request's own credentials count.
//
// A list, and the state that a watch begins with, is served on a goroutine of its own, which waits when the
// reader is a buffer behind. Later events of a watch are served by the reads of its body. Both end when the
// body is closed or the request's context is. Every other request is served before RoundTrip returns.
func Transport(s *Server, user *User) http.RoundTripper { return memory.New(s, user) }
