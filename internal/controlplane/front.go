package controlplane

import (
	"context"
	"net/http"
	"net/netip"
	"sync"

	"fairlead.dev/internal/controllers/cabundle"
	"fairlead.dev/internal/server/admission"
)

// Front is a server that receives the requests of a control plane without a listener of its own, and calls its Handler.
type Front struct {
	// URL is the base URL of the control plane for clients, and CA has the certificates that verify the server.
	URL string
	CA  cabundle.Bundle
	// Address is where other machines reach the server.
	Address netip.AddrPort
}

// HostUser is the user of a Host inside of its server, a member of system:masters.
const HostUser = "system:fairlead-clusters"

// Host adds control planes to a server, each with a Front; see package clusters.
type Host interface {
	// Over returns a handler that passes requests on to the control planes, and all others to next.
	Over(next http.Handler) http.Handler
	// Prepare is called at each start of the server, before it answers other requests than those of InProcess.
	Prepare(ctx context.Context, cp *ControlPlane) error
	// Admission is asked last about each write.
	Admission() admission.Plugin
	// Prefixes are those of the keys of objects that a fork of the server does not have.
	Prefixes() []string
	// Run works until ctx ends, beside the controllers.
	Run(ctx context.Context, cp *ControlPlane) error
}

// entrance admits requests while a control plane with a Front runs.
type entrance struct {
	mu     sync.Mutex
	next   http.Handler // nil before the start and after the end
	inside sync.WaitGroup
}

// ServeFront answers a request that the Front has received. It reports false, without an answer, before the API server has
// started and after it has stopped.
func (cp *ControlPlane) ServeFront(w http.ResponseWriter, r *http.Request) bool {
	next := cp.entrance.enter()
	if next == nil {
		return false
	}
	defer cp.entrance.inside.Done()
	next.ServeHTTP(w, r)
	return true
}

// enter returns the handler of a request, which calls inside.Done at its end; nil if there is none.
func (e *entrance) enter() http.Handler {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.next != nil {
		e.inside.Add(1)
	}
	return e.next
}

// set makes next the handler of all further requests.
func (e *entrance) set(next http.Handler) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.next = next
}

// close ends the entrance, and returns when all requests have been answered.
func (e *entrance) close() error {
	e.set(nil)
	e.inside.Wait()
	return nil
}
