package e2e

import (
	"net/http"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
)

// TestProcessors: a server in which requests wait for seats has twice its processors, as its metric tells, and its usual ones
// afterwards.
func TestProcessors(t *testing.T) {
	t.Setenv("GOMAXPROCS", "") // or the server would inherit it, and keep that number
	p := up(t, t.TempDir(), "--in-memory", "--nodes=0", "--max-requests-inflight=1", "--max-mutating-requests-inflight=1")
	defer p.stop()
	processors := func() float64 {
		return p.families()["go_sched_gomaxprocs_threads"].GetMetric()[0].GetGauge().GetValue()
	}
	usual := processors()

	config := p.config()
	// An administrator needs no seats, and another user does.
	config.Impersonate = rest.ImpersonationConfig{UserName: "somebody"}
	somebody, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var crowd sync.WaitGroup
	for range 30 {
		crowd.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				res, err := somebody.Get(config.Host + "/api/v1/pods")
				if err != nil {
					t.Error(err)
					return
				}
				if res.Body.Close(); res.StatusCode != http.StatusForbidden { // once it has a seat
					t.Error(res.Status)
					return
				}
			}
		})
	}
	eventually(t, "twice the processors", func() bool { return processors() == 2*usual })
	close(stop)
	crowd.Wait()
	eventually(t, "the usual processors", func() bool { return processors() == usual })
}
