package controlplane_test

import (
	"bufio"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
)

// TestIdleServerGetsNoRequests: once the controllers have finished, the server gets only
// heartbeats of nodes, and watches that are opened again. There is no
// HorizontalPodAutoscaler, since its controller has to poll metrics, every 15 seconds.
func TestIdleServerGetsNoRequests(t *testing.T) {
	t.Parallel() // most of the time goes by waiting
	f := startFaults(t, []string{"*"})
	for _, d := range scenarios {
		s := f.site(t)
		d.stages[0].ask(s, "")
		d.stages[0].done(s)
	}
	leases := client.For[*coordinationv1.Lease](f.client).Namespace("kube-node-lease")
	list, err := leases.List(t.Context())
	if err != nil || len(list.Items) != 3 {
		t.Fatal(err, list.Items)
	}
	renewals, err := leases.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer renewals.Stop()
	awaitRenewals := func() {
		renewed := map[string]int{}
		for len(renewed) < 3 || slices.Min(slices.Collect(maps.Values(renewed))) < idleRenewals {
			e, err := renewals.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if e.Type == watch.Modified {
				renewed[e.Object.Name]++
			}
		}
	}
	// Controllers may still send a few requests for the last changes. Polling would not end.
	before := requests(t, f.config)
	var asked map[string]int
	for range 3 {
		awaitRenewals()
		after := requests(t, f.config)
		asked = increase(before, after)
		if len(asked) == 0 {
			return
		}
		before = after
	}
	t.Errorf("the idle server got requests: %v", asked)
}

// heartbeats are the requests that an idle server may get.
var heartbeats = map[string]bool{
	"PUT leases ": true, "PATCH leases ": true,
	"PATCH nodes status": true, "GET nodes ": true,
}

// increase returns the requests that were counted after, and not before, and how many.
func increase(before, after map[string]int) map[string]int {
	asked := map[string]int{}
	for request, n := range after {
		if n -= before[request]; request == "GET  " {
			n-- // this test's own read of the metrics
		}
		if n > 0 && !heartbeats[request] {
			asked[request] = n
		}
	}
	return asked
}

var (
	counter = regexp.MustCompile(`^apiserver_request_total\{(.*)\} (\S+)$`)
	label   = regexp.MustCompile(`(\w+)="([^"]*)"`)
)

// requests reads the number of requests that the server has answered, by verb, resource and
// subresource, without watches, which count when they end.
func requests(t *testing.T, config *rest.Config) map[string]int {
	t.Helper()
	h, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", config.Host+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := h.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	counted := map[string]int{}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		m := counter.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		labels := map[string]string{}
		for _, l := range label.FindAllStringSubmatch(m[1], -1) {
			labels[l[1]] = l[2]
		}
		n, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			t.Fatal(lines.Text())
		}
		if labels["verb"] != "WATCH" {
			counted[labels["verb"]+" "+labels["resource"]+" "+labels["subresource"]] += int(n)
		}
	}
	if err := lines.Err(); err != nil || counted["POST namespaces "] == 0 {
		t.Fatalf("the server's metrics: %v, %v", counted, err)
	}
	return counted
}
