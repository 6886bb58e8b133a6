package node_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/node"
	"fairlead.dev/testenv"
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

// TestHeartbeatsTogether checks that nodes renew their leases at the same instants, so that the store syncs many at once: each hundredth
// of the 15 minutes in which the nodes of a test environment renew theirs.
func TestHeartbeatsTogether(t *testing.T) {
	const count, period, tick = 50, 15 * time.Minute, 9 * time.Second
	synctest.Test(t, func(t *testing.T) {
		c := testenv.New(t, testenv.Options{Bubble: true, Nodes: count}).Client(t)
		time.Sleep(2 * time.Hour)
		leases, err := client.For[*coordinationv1.Lease](c).Namespace(corev1.NamespaceNodeLease).List(t.Context(), metav1.ListOptions{})
		if err != nil || len(leases.Items) != count {
			t.Fatalf("%d leases (%v), want %d", len(leases.Items), err, count)
		}
		for _, l := range leases.Items {
			at := l.Spec.RenewTime.Time
			if age := time.Since(at); age > period || !at.Equal(at.Truncate(tick)) {
				t.Fatalf("%s was renewed %v ago, at %v, want a multiple of %v within %v", l.Name, age, at, tick, period)
			}
		}
	})
}
