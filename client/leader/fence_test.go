package leader_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/client/leader"
)

// memory is a server with one lease, in memory. While it hangs, requests for the lease
// wait until they are given up; all others are answered.
type memory struct {
	mu    sync.Mutex // guards lease and n
	lease *coordinationv1.Lease
	n     int
	hangs atomic.Bool
	other atomic.Int32 // writes of something else
}

func (m *memory) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	if !m.hangs.Load() {
		m.mu.Lock()
		defer m.mu.Unlock()
	}
	switch {
	case r.URL.Path == "/apis/coordination.k8s.io/v1":
		json.NewEncoder(rec).Encode(metav1.APIResourceList{APIResources: []metav1.APIResource{{Name: "leases", Kind: "Lease", Namespaced: true}}})
	case r.URL.Path == "/api/v1":
		json.NewEncoder(rec).Encode(metav1.APIResourceList{APIResources: []metav1.APIResource{{Name: "configmaps", Kind: "ConfigMap", Namespaced: true}}})
	case r.URL.Path == "/api/v1/namespaces/default/configmaps":
		m.other.Add(1)
		io.Copy(rec, r.Body)
	case m.hangs.Load():
		<-r.Context().Done()
		return nil, r.Context().Err()
	case r.Method == http.MethodGet && m.lease == nil:
		rec.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodGet:
		json.NewEncoder(rec).Encode(m.lease)
	default:
		sent := &coordinationv1.Lease{}
		if err := json.NewDecoder(r.Body).Decode(sent); err != nil {
			return nil, err
		}
		if m.lease != nil && m.lease.ResourceVersion != sent.ResourceVersion {
			rec.WriteHeader(http.StatusConflict)
			json.NewEncoder(rec).Encode(apierrors.NewConflict(coordinationv1.Resource("leases"), sent.Name, nil).Status())
			break
		}
		m.lease = sent
		m.n++
		m.lease.ResourceVersion = strconv.Itoa(m.n)
		json.NewEncoder(rec).Encode(m.lease)
	}
	return rec.Result(), nil
}

// TestFence: work that continues after its lease has run out, because it ignores its
// context, cannot write any more.
func TestFence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		c, err := client.New(&rest.Config{Transport: m}, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		maps := client.For[*corev1.ConfigMap](c).Namespace("default")
		write := func(ctx context.Context) error {
			_, err := maps.Create(context.WithoutCancel(ctx), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "done"}})
			return err
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		err = leader.Run(ctx, c, leader.Candidate{Namespace: "kube-system", Name: "work", Identity: "a"}, func(ctx context.Context) error {
			time.Sleep(time.Hour) // it is renewed all the time
			if err := write(ctx); err != nil {
				t.Errorf("a leader's write: %v", err)
			}
			m.hangs.Store(true)
			begun := time.Now()
			<-ctx.Done()
			if d := time.Since(begun); d < 8*time.Second || d > 10*time.Second {
				t.Errorf("told to stop after %v, want the renew deadline of 10s less the two since the last renewal", d)
			}
			if err := write(ctx); err != nil { // no other process holds the lease yet
				t.Errorf("a write within the lease's duration: %v", err)
			}
			time.Sleep(8 * time.Second)
			if err := write(ctx); !errors.Is(err, leader.ErrDeposed) {
				t.Errorf("a write after the lease has run out: %v", err)
			}
			if n := m.other.Load(); n != 2 {
				t.Errorf("%d writes reached the server, want 2", n)
			}
			stop()
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
