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

// TestNobodyPolls: once everything is as wanted, nothing reaches the server but what keeps
// nodes alive, and watches that are opened anew. The HorizontalPodAutoscaler is left out: it
// has no other way than to ask for metrics, every 15 seconds.
func TestNobodyPolls(t *testing.T) {
	t.Parallel() // it waits
	f := startFaults(t, []string{"*"})
	for _, d := range duties {
		s := f.site(t)
		d.stages[0].ask(s, "")
		d.stages[0].done(s)
	}
	leases := client.For[*coordinationv1.Lease](f.client).Namespace("kube-node-lease")
	list, err := leases.List(t.Context())
	if err != nil || len(list.Items) != 3 {
		t.Fatal(err, list.Items)
	}
	beats, err := leases.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer beats.Stop()
	beat := func() {
		renewed := map[string]int{}
		for len(renewed) < 3 || slices.Min(slices.Collect(maps.Values(renewed))) < idleRenewals {
			e, err := beats.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if e.Type == watch.Modified {
				renewed[e.Object.Name]++
			}
		}
	}
	// What came of the work may have its aftermath; who polls never ends.
	before := requests(t, f.config)
	var asked map[string]int
	for range 3 {
		beat()
		after := requests(t, f.config)
		asked = grown(before, after)
		if len(asked) == 0 {
			return
		}
		before = after
	}
	t.Errorf("nothing was to do, and the server was asked: %v", asked)
}

// aliveness is what may be asked of a server that rests.
var aliveness = map[string]bool{
	"PUT leases ": true, "PATCH leases ": true,
	"PATCH nodes status": true, "GET nodes ": true,
}

// grown tells what was asked more often than before.
func grown(before, after map[string]int) map[string]int {
	asked := map[string]int{}
	for what, n := range after {
		if n -= before[what]; what == "GET  " {
			n-- // this test's own look at the metrics
		}
		if n > 0 && !aliveness[what] {
			asked[what] = n
		}
	}
	return asked
}

var (
	counter = regexp.MustCompile(`^apiserver_request_total\{(.*)\} (\S+)$`)
	label   = regexp.MustCompile(`(\w+)="([^"]*)"`)
)

// requests counts those that the server has answered, by verb, resource and subresource.
// Watches are left out: they are answered when they end.
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
