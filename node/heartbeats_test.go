package node_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fairlead.dev/node"
)

// TestHeartbeatsOfManyNodes holds all leases back until 200 nodes are registered and wait, and then until 16 of them are written at
// once, as by a busy server.
func TestHeartbeatsOfManyNodes(t *testing.T) {
	const count, atOnce = 200, 16
	var registered, writing atomic.Int32
	all, enough := make(chan struct{}), make(chan struct{})
	_, nodes := wired(t, func(next http.RoundTripper) wire {
		return func(req *http.Request) (*http.Response, error) {
			switch {
			case req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/nodes"):
				if registered.Add(1) == count {
					defer close(all)
				}
			case req.Method != http.MethodGet && strings.Contains(req.URL.Path, "/leases"):
				until := all
				select {
				case <-all:
					until = enough
					if writing.Add(1) == atOnce {
						close(enough)
					}
				default:
				}
				select {
				case <-until:
				case <-req.Context().Done():
					return nil, req.Context().Err()
				}
			}
			return next.RoundTrip(req)
		}
	})
	startNodes(t, nodes(node.Options{Count: count}))
	select {
	case <-enough:
	case <-time.After(patience):
		t.Fatalf("of %d nodes, %d write their leases at once", registered.Load(), writing.Load())
	}
}
