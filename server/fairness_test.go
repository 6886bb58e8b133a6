package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/server"
)

// crowded is a server with 7 seats at the level "crowd" of all users, and a path whose requests hold theirs until they are
// released.
type crowded struct {
	*cluster
	t       *testing.T
	begun   chan string
	release chan struct{}
	// end releases all requests and waits for their answers.
	end func()
	all sync.WaitGroup
}

func startCrowded(t *testing.T, change ...func(*server.Config)) *crowded {
	b := &crowded{t: t, begun: make(chan string, 1000), release: make(chan struct{})}
	b.cluster = start(t, append([]func(*server.Config){asUsers, func(c *server.Config) {
		c.Fairness, c.MaxReads, c.MaxWrites = true, 5, 2
		c.Paths = map[string]http.Handler{"/block": http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			b.begun <- r.Header.Get("User")
			select {
			case <-b.release:
			case <-r.Context().Done():
			}
		})}
	}}, change...)...)
	b.end = sync.OnceFunc(func() {
		close(b.release)
		b.all.Wait()
	})
	t.Cleanup(b.end)
	l := &flowcontrolv1.PriorityLevelConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "crowd", UID: "uid-crowd"}}
	l.Spec.Type = flowcontrolv1.PriorityLevelEnablementLimited
	l.Spec.Limited = &flowcontrolv1.LimitedPriorityLevelConfiguration{
		NominalConcurrencyShares: ptr.To[int32](1000), LendablePercent: ptr.To[int32](0),
		LimitResponse: flowcontrolv1.LimitResponse{Type: flowcontrolv1.LimitResponseTypeQueue, Queuing: &flowcontrolv1.QueuingConfiguration{Queues: 64, HandSize: 4, QueueLengthLimit: 3}},
	}
	all := []string{"*"}
	f := &flowcontrolv1.FlowSchema{ObjectMeta: metav1.ObjectMeta{Name: "all", UID: "uid-all"}, Spec: flowcontrolv1.FlowSchemaSpec{
		PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: "crowd"}, MatchingPrecedence: 1000,
		DistinguisherMethod: &flowcontrolv1.FlowDistinguisherMethod{Type: flowcontrolv1.FlowDistinguisherMethodByUserType},
		Rules: []flowcontrolv1.PolicyRulesWithSubjects{{
			Subjects:         []flowcontrolv1.Subject{{Kind: flowcontrolv1.SubjectKindUser, User: &flowcontrolv1.UserSubject{Name: "*"}}},
			ResourceRules:    []flowcontrolv1.ResourcePolicyRule{{Verbs: all, APIGroups: all, Resources: all, Namespaces: all, ClusterScope: true}},
			NonResourceRules: []flowcontrolv1.NonResourcePolicyRule{{Verbs: all, NonResourceURLs: all}},
		}},
	}}
	if valid := b.server.Prioritize([]*flowcontrolv1.FlowSchema{f}, []*flowcontrolv1.PriorityLevelConfiguration{l}); !valid["crowd"] {
		t.Fatal(valid)
	}
	return b
}

// ask sends a request of a user in the background.
func (b *crowded) ask(path, user string) <-chan answer {
	got := make(chan answer, 1)
	b.all.Go(func() { got <- b.do("GET "+path, "", "User: "+user) })
	return got
}

func (b *crowded) dump(name string) string {
	return b.must("GET /debug/api_priority_and_fairness/"+name, "", "User: root").body
}

// level returns the fields of the row of a level.
func (b *crowded) level(name string) []string {
	for line := range strings.Lines(b.dump("dump_priority_levels")) {
		fields := strings.Split(strings.ReplaceAll(strings.TrimSpace(line), " ", ""), ",")
		if fields[0] == name {
			return fields
		}
	}
	b.t.Fatalf("there is no level %s", name)
	return nil
}

// waiting waits until the level has n requests in its queues.
func (b *crowded) waiting(n int) {
	b.t.Helper()
	eventually(b.t, fmt.Sprintf("%d requests that wait", n), func() bool { return b.level("crowd")[4] == fmt.Sprint(n) })
}

// TestElephantAndMouse: a user with many requests fills its own queues and is refused, while another one gets the next free
// seat.
func TestElephantAndMouse(t *testing.T) {
	b := startCrowded(t)
	for range 7 {
		b.ask("/block", "elephant")
		<-b.begun
	}
	for range 12 { // four queues of three
		b.ask("/block", "elephant")
	}
	b.waiting(12)
	a := b.do("GET /block", "", "User: elephant")
	if a.code != 429 || a.header.Get("Retry-After") != "1" || a.body != "Too many requests, please try again later.\n" {
		t.Errorf("a request over the queues' length: %d %q %q", a.code, a.header.Get("Retry-After"), a.body)
	}
	if level, flow := a.header.Get("X-Kubernetes-Pf-Prioritylevel-Uid"), a.header.Get("X-Kubernetes-Pf-Flowschema-Uid"); level != "uid-crowd" || flow != "uid-all" {
		t.Errorf("the refusal names the level %q and the FlowSchema %q", level, flow)
	}
	for _, path := range []string{"/version", "/api/v1/namespaces/default/configmaps"} {
		if code := b.do("GET "+path, "", "User: root").code; code != 200 {
			t.Errorf("an administrator's request for %s: %d", path, code)
		}
	}
	mouse := b.ask("/block", "mouse")
	b.waiting(13)
	requests := b.dump("dump_requests?includeRequestDetails=1")
	if strings.Count(requests, "elephant,") != 2*19 || strings.Count(requests, "/block,") != 20 {
		t.Error(requests)
	}
	// What the elephant's requests have taken is known as they end. Soon after the first seven have, the mouse goes first; in
	// the order of arrival it would be the thirteenth.
	for i := 1; ; i++ {
		b.release <- struct{}{}
		if <-b.begun == "mouse" {
			break
		}
		if i == 9 {
			t.Fatal("after nine free seats the mouse still waits")
		}
	}
	b.end()
	if a := <-mouse; a.code != 200 || a.header.Get("X-Kubernetes-Pf-Flowschema-Uid") != "uid-all" {
		t.Error(a.code, a.header)
	}
	b.waiting(0)
	if n := b.metric(`apiserver_flowcontrol_rejected_requests_total{flow_schema="all",priority_level="crowd",reason="queue-full"}`); n != 1 {
		t.Errorf("%v refusals are counted", n)
	}
	if fields := b.level("crowd"); fields[6] != "20" || fields[7] != "1" {
		t.Errorf("20 requests were dispatched and one refused: %v", fields)
	}
}

// TestPatience: a request waits for a quarter of its time, which the server is told of when it begins.
func TestPatience(t *testing.T) {
	var queued atomic.Int32
	b := startCrowded(t, func(c *server.Config) {
		c.RequestTimeout = 20 * time.Second
		c.Queued = func() { queued.Add(1) }
	})
	for range 7 {
		b.ask("/block", "elephant")
		<-b.begun
	}
	if n := queued.Load(); n != 0 {
		t.Errorf("%d requests have waited before all seats were taken", n)
	}
	began := time.Now()
	a := b.do("GET /api/v1/namespaces?timeout=4s", "", "User: mouse")
	if n := queued.Load(); n != 1 {
		t.Errorf("%d requests have waited", n)
	}
	if took := time.Since(began); a.code != 429 || took < time.Second || took > 3500*time.Millisecond {
		t.Errorf("%d after %v", a.code, took)
	}
	if n := b.metric(`apiserver_flowcontrol_rejected_requests_total{flow_schema="all",priority_level="crowd",reason="time-out"}`); n != 1 {
		t.Errorf("%v refusals are counted", n)
	}
}

// TestWatchSeat: a watch has its seat only until it has sent the state that it begins with, and makes writes linger.
func TestWatchSeat(t *testing.T) {
	b := startCrowded(t)
	b.must("POST "+maps, mapA, "User: root")
	var open []*http.Response
	for i := range 20 {
		url := b.base + maps + "?watch=1"
		if i%2 == 0 {
			url += "&resourceVersion=1"
		}
		req, err := http.NewRequest("GET", url, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("User", "watcher")
		resp, err := b.client.Do(req)
		if err != nil || resp.StatusCode != 200 || resp.Header.Get("X-Kubernetes-Pf-Flowschema-Uid") != "uid-all" {
			t.Fatal(err, resp)
		}
		open = append(open, resp)
	}
	eventually(t, "watches without seats", func() bool { return b.level("crowd")[5] == "0" })
	if a := b.do("POST "+maps, strings.Replace(mapA, `"a"`, `"b"`, 1), "User: writer"); a.code != 201 {
		t.Fatal(a.code, a.body)
	}
	const seats = `apiserver_flowcontrol_work_estimated_seats_sum{flow_schema="all",priority_level="crowd"}`
	if n := b.metric(seats); n != 21 { // the level allows no wider requests
		t.Errorf("20 watches and a write have taken %v seats", n)
	}
	if n := b.metric(`apiserver_flowcontrol_watch_count_samples_sum{flow_schema="all",priority_level="crowd"}`); n != 20 {
		t.Errorf("the write has %v watchers", n)
	}
	for _, resp := range open {
		resp.Body.Close()
	}
	eventually(t, "watches that are forgotten", func() bool {
		before := b.metric(`apiserver_flowcontrol_watch_count_samples_sum{flow_schema="all",priority_level="crowd"}`)
		b.do("PUT "+maps+"/b", strings.Replace(mapA, `"a"`, `"b"`, 1), "User: writer")
		return b.metric(`apiserver_flowcontrol_watch_count_samples_sum{flow_schema="all",priority_level="crowd"}`) == before
	})
}

// TestNoFairness: without fairness there are no dumps, headers or metrics.
func TestNoFairness(t *testing.T) {
	c := start(t)
	a := c.must("GET /api/v1/namespaces", "")
	if a.header.Get("X-Kubernetes-Pf-Flowschema-Uid") != "" || c.do("GET /debug/api_priority_and_fairness/dump_queues", "").code != 404 {
		t.Error(a.header)
	}
	if text := c.must("GET /metrics", "").body; strings.Contains(text, "\napiserver_flowcontrol_") {
		t.Error("there are metrics of flow control")
	}
}

// BenchmarkFairness has the cost of a seat: BenchmarkGetPod's requests over HTTP, with and without.
func BenchmarkFairness(b *testing.B) {
	for _, on := range []bool{false, true} {
		b.Run(fmt.Sprint("fairness=", on), func(b *testing.B) {
			c := start(b, func(cfg *server.Config) { cfg.Fairness = on })
			send(b, c.client.Transport, "POST", c.base+"/api/v1/namespaces/default/pods", podBody("web"))
			b.ReportAllocs()
			for b.Loop() {
				send(b, c.client.Transport, "GET", c.base+"/api/v1/namespaces/default/pods/web", "")
			}
		})
	}
}
