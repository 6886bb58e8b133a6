package fairness_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/fairness"
	"fairlead.dev/internal/server/request"
)

// level returns a priority level; without queues it refuses what it has no seat for.
func level(name string, shares, lendable int32, queues, hand, length int32) *flowcontrolv1.PriorityLevelConfiguration {
	l := &flowcontrolv1.PriorityLevelConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("level-" + name)}}
	l.Spec.Type = flowcontrolv1.PriorityLevelEnablementLimited
	l.Spec.Limited = &flowcontrolv1.LimitedPriorityLevelConfiguration{
		NominalConcurrencyShares: &shares, LendablePercent: &lendable, LimitResponse: flowcontrolv1.LimitResponse{Type: flowcontrolv1.LimitResponseTypeReject},
	}
	if queues > 0 {
		l.Spec.Limited.LimitResponse = flowcontrolv1.LimitResponse{
			Type:    flowcontrolv1.LimitResponseTypeQueue,
			Queuing: &flowcontrolv1.QueuingConfiguration{Queues: queues, HandSize: hand, QueueLengthLimit: length},
		}
	}
	return l
}

// flow returns a FlowSchema for all requests of users, "*" being all, each of which is a flow.
func flow(name, level string, precedence int32, users ...string) *flowcontrolv1.FlowSchema {
	f := &flowcontrolv1.FlowSchema{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("flow-" + name)}}
	var subjects []flowcontrolv1.Subject
	for _, u := range users {
		subjects = append(subjects, flowcontrolv1.Subject{Kind: flowcontrolv1.SubjectKindUser, User: &flowcontrolv1.UserSubject{Name: u}})
	}
	all := []string{"*"}
	f.Spec = flowcontrolv1.FlowSchemaSpec{
		PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: level}, MatchingPrecedence: precedence,
		DistinguisherMethod: &flowcontrolv1.FlowDistinguisherMethod{Type: flowcontrolv1.FlowDistinguisherMethodByUserType},
		Rules: []flowcontrolv1.PolicyRulesWithSubjects{{
			Subjects:         subjects,
			ResourceRules:    []flowcontrolv1.ResourcePolicyRule{{Verbs: all, APIGroups: all, Resources: all, Namespaces: all, ClusterScope: true}},
			NonResourceRules: []flowcontrolv1.NonResourcePolicyRule{{Verbs: all, NonResourceURLs: all}},
		}},
	}
	return f
}

type dispatcher struct {
	*fairness.Dispatcher
	t       *testing.T
	objects fairness.Objects
}

func start(t *testing.T, seats int, levels []*flowcontrolv1.PriorityLevelConfiguration, flows ...*flowcontrolv1.FlowSchema) *dispatcher {
	d := &dispatcher{t: t}
	d.Dispatcher = fairness.New(fairness.Options{Seats: seats, Objects: func(_, resource string) (fairness.Objects, bool) {
		return d.objects, resource == "pods"
	}})
	d.Set(flows, levels)
	return d
}

func user(name string) *auth.User {
	return &auth.User{Name: name, Groups: []string{auth.AllAuthenticated}}
}

// try enters a request that gets a pod, or the verb in front of the user's name.
func (d *dispatcher) try(ctx context.Context, who string) (*fairness.Seat, fairness.Class, error) {
	verb, name, ok := strings.Cut(who, " ")
	if !ok {
		verb, name = "get", who
	}
	in := &request.Info{IsResource: true, Verb: verb, Version: "v1", Resource: "pods", Namespace: "default"}
	u := user(name)
	if name == "root" {
		u.Groups = append(u.Groups, auth.MastersGroup)
	}
	return d.Enter(ctx, fairness.Request{User: u, Info: in, Query: url.Values{}, Arrived: time.Now(), Patience: 15 * time.Second})
}

// enter enters a request that must get its seats at once.
func (d *dispatcher) enter(who string) *fairness.Seat {
	d.t.Helper()
	before := time.Now()
	s, _, err := d.try(d.t.Context(), who)
	if err != nil || time.Now() != before {
		d.t.Fatalf("%s: %v after %v", who, err, time.Since(before))
	}
	return s
}

// waiting is a request that waits, or has got its seats.
type waiting struct{ seat chan *fairness.Seat }

func (d *dispatcher) queue(who string) waiting {
	w := waiting{make(chan *fairness.Seat, 1)}
	go func() {
		if s, _, err := d.try(d.t.Context(), who); err == nil {
			w.seat <- s
		} else {
			close(w.seat)
		}
	}()
	synctest.Wait()
	return w
}

func (w waiting) has() bool { return len(w.seat) > 0 }

// metric returns the value of a metric of a level; labels are parts of its text.
func (d *dispatcher) metric(name string, labels ...string) (v float64) {
	d.t.Helper()
	reg := prometheus.NewRegistry()
	reg.MustRegister(d)
	families, err := reg.Gather()
	if err != nil {
		d.t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "apiserver_flowcontrol_"+name {
			continue
		}
	metrics:
		for _, m := range f.GetMetric() {
			for _, l := range labels {
				if !strings.Contains(fmt.Sprint(m.GetLabel()), `"`+l+`"`) {
					continue metrics
				}
			}
			v += m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return v
}

func refused(err error) bool {
	var r *fairness.Refusal
	return errors.As(err, &r) && r.RetryAfter > 0
}

// levels of 10 seats: "shared" has them all but one, which the mandatory level catch-all has.
func shared(lendable, queues, hand, length int32) []*flowcontrolv1.PriorityLevelConfiguration {
	return []*flowcontrolv1.PriorityLevelConfiguration{level("shared", 45, lendable, queues, hand, length)}
}

func TestSeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, 10, shared(0, 8, 2, 50), flow("all", "shared", 100, "*"))
		if n := d.metric("nominal_limit_seats", "shared"); n != 9 {
			t.Fatalf("%v seats", n)
		}
		var seats []*fairness.Seat
		for range 9 {
			seats = append(seats, d.enter("ann"))
		}
		first, second := d.queue("ann"), d.queue("ann")
		if first.has() || second.has() || d.metric("current_inqueue_requests", "shared", "all") != 2 {
			t.Error("a tenth request has a seat")
		}
		d.enter("root").Leave() // the exempt level
		seats[0].Leave()
		seats[0].Leave()
		synctest.Wait()
		if !first.has() && !second.has() || first.has() && second.has() {
			t.Error("a seat was given to both or none")
		}
		// The rest gives up after its patience, and with its context.
		started := time.Now()
		time.Sleep(16 * time.Second)
		synctest.Wait()
		if first.has() && second.has() || d.metric("rejected_requests_total", "time-out") != 1 {
			t.Errorf("a request waits for %v", time.Since(started))
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		if _, _, err := d.try(ctx, "ann"); !refused(err) || time.Since(began) != time.Second {
			t.Errorf("a request of a client that has gone: %v after %v", err, time.Since(began))
		}
		if n := d.metric("dispatched_requests_total", "shared"); n != 10 {
			t.Errorf("%v were dispatched", n)
		}
	})
}

// TestReject: a level without queues refuses at once, and its Retry-After grows while it must.
func TestReject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, 10, shared(0, 0, 0, 0), flow("all", "shared", 100, "*"))
		for range 9 {
			d.enter("ann")
		}
		last := int64(0)
		for range 300 {
			_, class, err := d.try(t.Context(), "ann")
			var r *fairness.Refusal
			if !errors.As(err, &r) || class != (fairness.Class{Schema: "flow-all", Level: "level-shared"}) {
				t.Fatal(class, err)
			}
			if last == 0 && r.RetryAfter != 1 {
				t.Errorf("the first refusal asks for a pause of %d s", r.RetryAfter)
			}
			last = r.RetryAfter
			time.Sleep(100 * time.Millisecond)
		}
		if last < 8 {
			t.Errorf("after 30 s with 10 refusals each, Retry-After is %d", last)
		}
		if n := d.metric("rejected_requests_total", "concurrency-limit"); n != 300 {
			t.Errorf("%v refusals are counted", n)
		}
	})
}

// TestQueueLength: a flow whose queues are full is refused, and one with an empty queue is not.
func TestQueueLength(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, 10, shared(0, 64, 1, 3), flow("all", "shared", 100, "*"))
		for i := range 9 {
			d.enter(fmt.Sprint("busy-", i))
		}
		for range 3 {
			d.queue("elephant")
		}
		if _, _, err := d.try(t.Context(), "elephant"); !refused(err) {
			t.Errorf("a fourth request in a queue of 3: %v", err)
		}
		free := 0
		for i := range 20 {
			w := d.queue(fmt.Sprint("mouse-", i))
			select {
			case <-w.seat:
			default:
				free++ // it waits
			}
		}
		if free < 18 { // a mouse has the elephant's queue with a probability of 1/64
			t.Errorf("%d of 20 other flows can wait", free)
		}
		if n := d.metric("rejected_requests_total", "queue-full"); n < 1 {
			t.Errorf("%v refusals", n)
		}
	})
}

// TestFairShare: with an elephant that always has requests waiting, a mouse gets a seat after about one request's time, and
// two elephants get the same number of seats.
func TestFairShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, 10, shared(0, 64, 4, 50), flow("all", "shared", 100, "*"))
		const took = 10 * time.Millisecond
		ctx, stop := context.WithCancel(t.Context())
		done := map[string]int{}
		counted := make(chan string, 1000)
		var all sync.WaitGroup
		for _, elephant := range []string{"one", "two"} {
			for range 40 {
				all.Go(func() {
					for ctx.Err() == nil {
						s, _, err := d.try(ctx, elephant)
						if err != nil {
							return
						}
						time.Sleep(took)
						s.Leave()
						counted <- elephant
					}
				})
			}
		}
		slowest := time.Duration(0)
		for range 20 {
			for end := time.Now().Add(100 * time.Millisecond); time.Now().Before(end); {
				select {
				case e := <-counted:
					done[e]++
				case <-time.After(time.Millisecond):
				}
			}
			before := time.Now()
			s, _, err := d.try(ctx, "mouse")
			if err != nil {
				t.Fatal(err)
			}
			slowest = max(slowest, time.Since(before))
			s.Leave()
		}
		stop()
		all.Wait()
		if slowest > 3*took {
			t.Errorf("a mouse waited for %v behind elephants whose requests take %v", slowest, took)
		}
		if one, two := done["one"], done["two"]; one+two < 1500 || 10*one < 9*two || 10*two < 9*one {
			t.Errorf("the elephants got %d and %d seats", one, two)
		}
	})
}

// TestOverdraft: a flow whose queues have few seats gets some although another flow has all of the level, up to a sixteenth
// beyond the limit.
func TestOverdraft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, 600, shared(0, 64, 4, 50), flow("all", "shared", 100, "*"))
		limit := int(d.metric("current_limit_seats", "shared"))
		elephants := make([]*fairness.Seat, limit)
		for i := range elephants {
			elephants[i] = d.enter("elephant")
		}
		const hand = 4
		for range hand {
			if d.queue("elephant").has() {
				t.Error("a flow that has the whole level gets more")
			}
		}
		d.objects = fairness.Objects{Count: 1000, Size: 1000}
		list := d.enter("list mouse-0") // of 10 seats
		var mice []*fairness.Seat
		for i := range limit/16 - 10 {
			mice = append(mice, d.enter(fmt.Sprint("mouse-", i)))
		}
		last := d.queue("mouse")
		if last.has() {
			t.Errorf("%v seats of %d are in use", d.metric("current_executing_seats", "shared"), limit)
		}
		mice[0].Leave()
		synctest.Wait()
		if !last.has() {
			t.Error("a seat beyond the limit is given once only")
		}
		list.Leave()
		elephants[0].Leave()
		synctest.Wait()
		if n := d.metric("current_inqueue_requests", "shared", "all"); n != hand {
			t.Errorf("%v requests wait, not those of the flow that has the whole level", n)
		}
	})
}

// TestBorrow: a level with more requests than seats gets those that another does not use, and gives them back.
func TestBorrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		levels := []*flowcontrolv1.PriorityLevelConfiguration{level("a", 50, 80, 8, 2, 100), level("b", 45, 80, 8, 2, 100)}
		d := start(t, 100, levels, flow("a", "a", 100, "ann"), flow("b", "b", 100, "bob"))
		limit := func(name string) float64 { return d.metric("current_limit_seats", name) }
		if n := d.metric("nominal_limit_seats", "a"); n != 50 {
			t.Fatalf("a has %v seats", n)
		}
		var held []waiting
		for range 70 {
			held = append(held, d.queue("ann"))
		}
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if limit("a") < 70 || limit("b") < 9 || limit("a")+limit("b") > 96 {
			t.Errorf("a borrows: its limit is %v, that of b %v", limit("a"), limit("b"))
		}
		for i, w := range held {
			if !w.has() {
				t.Fatalf("request %d waits", i)
			}
		}
		var of []waiting
		for range 60 {
			of = append(of, d.queue("bob"))
		}
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if limit("b") < 45 {
			t.Errorf("b has %v of 45 seats when it needs 60", limit("b"))
		}
		for _, w := range held {
			(<-w.seat).Leave()
		}
		synctest.Wait()
		time.Sleep(25 * time.Second)
		synctest.Wait()
		for _, w := range of[:45] { // others have given up
			s := <-w.seat
			if s == nil {
				t.Fatal("a request of b has got no seat")
			}
			s.Leave()
		}
		if n := d.metric("demand_seats_smoothed", "a"); n < 30 {
			t.Errorf("the smoothed demand of a is %v", n)
		}
	})
}

// TestQuiet: without requests no timer runs, and a request that comes later finds the demand forgotten.
func TestQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, 100, shared(50, 8, 2, 100), flow("all", "shared", 100, "*"))
		var all []*fairness.Seat
		for range 40 {
			all = append(all, d.enter("ann"))
		}
		time.Sleep(10 * time.Second)
		for _, s := range all {
			s.Leave()
		}
		time.Sleep(10 * time.Second)
		before := d.metric("demand_seats_smoothed", "shared")
		if before < 35 {
			t.Fatalf("the smoothed demand is %v after 10 s with 40 requests", before)
		}
		time.Sleep(5 * time.Minute) // half-life
		d.enter("ann").Leave()
		after := d.metric("demand_seats_smoothed", "shared")
		if after < 0.4*before || after > 0.6*before {
			t.Errorf("the smoothed demand was %v, and is %v after five minutes without requests", before, after)
		}
		time.Sleep(time.Minute)
		if d.Ticking() {
			t.Error("the timer is set a minute after the last request")
		}
	})
}

// TestWidths: a list takes seats by its memory, and a write lingers by its watchers.
func TestWidths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, 600, shared(0, 64, 6, 50), flow("all", "shared", 100, "*"))
		seats := func() float64 { return d.metric("current_executing_seats", "shared") }
		d.objects = fairness.Objects{Count: 1000, Size: 700} // 700 kB
		list := d.enter("list ann")
		if n := seats(); n != 7 {
			t.Errorf("a list of 700 kB takes %v seats", n)
		}
		list.Leave()
		d.objects = fairness.Objects{Count: 100_000, Size: 700}
		list = d.enter("list ann")
		if n := seats(); n != 10 {
			t.Errorf("a list of 70 MB takes %v seats", n)
		}
		list.Leave()
		in := &request.Info{IsResource: true, Verb: "watch", Version: "v1", Resource: "pods"}
		for range 45 {
			defer d.Watch(in, url.Values{})()
			defer d.Watch(in, url.Values{"fieldSelector": {"spec.nodeName=n1"}})()
		}
		write := d.enter("update ann")
		if n := seats(); n != 5 {
			t.Errorf("a write with 45 watchers takes %v seats", n)
		}
		write.Leave()
		synctest.Wait()
		if n := seats(); n != 5 || d.metric("current_executing_requests", "shared") != 0 {
			t.Errorf("a write that has ended lingers on %v seats", n)
		}
		time.Sleep(6 * time.Millisecond)
		if n := seats(); n != 0 {
			t.Errorf("%v seats are in use after the linger", n)
		}
	})
}

// TestQuiesce: a level that is deleted serves the requests that it has, and is gone after that.
func TestQuiesce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, 20, shared(0, 8, 2, 50), flow("all", "shared", 100, "*"))
		var seats []*fairness.Seat
		for range int(d.metric("nominal_limit_seats", "shared")) {
			seats = append(seats, d.enter("ann"))
		}
		w := d.queue("ann")
		if valid := d.Set([]*flowcontrolv1.FlowSchema{flow("all", "shared", 100, "*")}, nil); len(valid) != 0 {
			t.Errorf("%v are valid", valid)
		}
		dump := func() string {
			var b strings.Builder
			if err := d.DumpLevels(&b); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
		if text := dump(); !strings.Contains(text, "shared,") || !strings.Contains(text, "true,") {
			t.Error(text)
		}
		if _, class, err := d.try(t.Context(), "ann"); err != nil || class.Schema != "" {
			t.Errorf("a request of no FlowSchema: %v %v", class, err) // the imagined catch-all has no UID
		}
		for _, s := range seats {
			s.Leave()
		}
		synctest.Wait()
		if !w.has() {
			t.Fatal("the request in the queue of the deleted level waits")
		}
		(<-w.seat).Leave()
		if text := dump(); strings.Contains(text, "shared") {
			t.Error(text)
		}
	})
}

// TestMatch: the first FlowSchema by precedence and name that matches counts.
func TestMatch(t *testing.T) {
	levels := []*flowcontrolv1.PriorityLevelConfiguration{level("l", 100, 0, 8, 2, 50)}
	pods := flow("pods", "l", 50, "*")
	pods.Spec.Rules[0].ResourceRules = []flowcontrolv1.ResourcePolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods/log"}, Namespaces: []string{"a"}}}
	pods.Spec.Rules[0].NonResourceRules = []flowcontrolv1.NonResourcePolicyRule{{Verbs: []string{"get"}, NonResourceURLs: []string{"/version", "/logs/*"}}}
	accounts := flow("accounts", "l", 60)
	accounts.Spec.Rules[0].Subjects = []flowcontrolv1.Subject{{Kind: flowcontrolv1.SubjectKindServiceAccount, ServiceAccount: &flowcontrolv1.ServiceAccountSubject{Namespace: "kube-system", Name: "*"}}}
	dangling := flow("dangling", "none", 2, "*")
	d := start(t, 100, levels, flow("b", "l", 70, "ann"), flow("a", "l", 70, "ann"), pods, accounts, dangling)
	get := func(namespace, resource, sub string) *request.Info {
		return &request.Info{IsResource: true, Verb: "get", Version: "v1", Resource: resource, Subresource: sub, Namespace: namespace}
	}
	path := func(p string) *request.Info { return &request.Info{Verb: "get", Path: p} }
	for _, c := range []struct {
		user string
		in   *request.Info
		want types.UID
	}{
		{"ann", get("a", "pods", "log"), "flow-pods"},
		{"ann", get("b", "pods", "log"), "flow-a"},
		{"ann", get("a", "pods", ""), "flow-a"},
		{"bob", get("a", "pods", ""), ""},
		{"bob", path("/version"), "flow-pods"},
		{"bob", path("/logs/x"), "flow-pods"},
		{"bob", path("/logsx"), ""},
		{"system:serviceaccount:kube-system:x", get("", "nodes", ""), "flow-accounts"},
		{"system:serviceaccount:kube-systemx:x", get("", "nodes", ""), ""},
	} {
		for range 2 { // the second time from memory
			s, class, err := d.Enter(t.Context(), fairness.Request{User: user(c.user), Info: c.in, Arrived: time.Now(), Patience: time.Second})
			if err != nil || class.Schema != c.want {
				t.Errorf("%s %+v: FlowSchema %q, want %q (%v)", c.user, c.in, class.Schema, c.want, err)
			}
			s.Leave()
		}
	}
}

// TestExemptBorrows: the exempt level takes what it needs from the others.
func TestExemptBorrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, 100, shared(60, 8, 2, 50), flow("all", "shared", 100, "*"))
		for range 30 {
			d.enter("root")
		}
		time.Sleep(11 * time.Second)
		if e, s := d.metric("current_limit_seats", "exempt"), d.metric("current_limit_seats", "shared"); e != 30 || s > 90 {
			t.Errorf("the exempt level has %v seats, the other %v", e, s)
		}
	})
}

// TestRequestDump: the dump shows where requests are.
func TestRequestDump(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, 10, shared(0, 1, 1, 50), flow("all", "shared", 100, "*"))
		for range 9 {
			d.enter("ann")
		}
		d.queue("ann")
		var requests, queues strings.Builder
		if err := errors.Join(d.DumpRequests(&requests, true), d.DumpQueues(&queues)); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(requests.String()), "\n")
		if len(lines) != 11 || !strings.HasPrefix(lines[0], "PriorityLevelName, FlowSchemaName,") {
			t.Fatal(requests.String())
		}
		fields := strings.FieldsFunc(lines[1], func(r rune) bool { return r == ',' || r == ' ' })
		if want := "shared all 0 0"; !strings.HasPrefix(strings.Join(fields, " "), want) || !strings.Contains(lines[1], "ann,") || !strings.Contains(lines[1], "pods,") {
			t.Errorf("%q, want %s first", lines[1], want)
		}
		if text := strings.Join(strings.Fields(queues.String()), " "); !strings.Contains(text, "shared, 0, 1, 9, 9, ") || !strings.Contains(text, ", 1, 1, 0.00300000ss") {
			t.Error(text)
		}
	})
}

// TestTraffic: requests that wait and that execute are observed by kind, as parts of the requests that may.
func TestTraffic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, 10, shared(0, 8, 2, 50), flow("all", "shared", 100, "*"))
		var seats []*fairness.Seat
		for range 8 {
			seats = append(seats, d.enter("ann"))
		}
		write := d.enter("update ann")
		waits := d.queue("ann")
		time.Sleep(time.Second)
		for _, s := range seats {
			s.Leave()
		}
		synctest.Wait()
		(<-waits.seat).Leave()
		write.Leave()
		time.Sleep(3 * time.Second)
		reg := prometheus.NewRegistry()
		reg.MustRegister(d)
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, f := range families {
			if f.GetName() != "apiserver_flowcontrol_read_vs_write_current_requests" {
				continue
			}
			for _, m := range f.GetMetric() {
				if n := m.GetHistogram().GetSampleCount(); n != 4e9 {
					t.Errorf("%v: %d observations in four seconds", m.GetLabel(), n)
				}
				got[m.GetLabel()[0].GetValue()+" "+m.GetLabel()[1].GetValue()] = m.GetHistogram().GetSampleSum() / 1e9
			}
		}
		// Ten seats execute, and 8 queues hold 50 requests each.
		want := map[string]float64{"executing readOnly": 0.8, "executing mutating": 0.1, "waiting readOnly": 1.0 / 400, "waiting mutating": 0}
		for name, is := range want {
			if v, ok := got[name]; !ok || v < is-1e-6 || v > is+1e-6 {
				t.Errorf("%s: %v, want %v", name, v, is)
			}
		}
	})
}
