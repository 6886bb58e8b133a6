package e2e

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/trace/show"
)

// tree returns an event and all its effects.
func (p *process) tree(rv string) (all []show.Event, at map[int64]show.Event) {
	p.t.Helper()
	r := fairlead(p.t, "trace", "--kubeconfig", p.Kubeconfig, "--rv", rv, "--tree", "-o", "json")
	if r.code != 0 {
		p.t.Fatalf("fairlead %s: exit %d\n%s", r.line, r.code, r.errs)
	}
	at = map[int64]show.Event{}
	in := json.NewDecoder(strings.NewReader(r.out))
	for in.More() {
		var e show.Event
		if err := in.Decode(&e); err != nil {
			p.t.Fatal(err)
		}
		all, at[e.Revision] = append(all, e), e
	}
	return all, at
}

var hops = []string{"received", "authorized", "admitted", "queued", "synced", "published", "cached"}

// TestTrace scales a Deployment to 50: each pod's life has every hop, in the order of time,
// and the right causes.
func TestTrace(t *testing.T) {
	t.Parallel()
	p := up(t, t.TempDir())
	defer p.stop()
	p.kubectl("create", "deployment", "web", "--image=nginx", "--replicas=1")
	p.kubectl("rollout", "status", "deployment/web")
	pods, err := p.clientset().CoreV1().Pods("default").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer pods.Stop() // a client without reports: its events end at the flush
	var first show.Event
	if err := json.Unmarshal([]byte(firstLine(fairlead(t, "trace", "deploy/web", "--kubeconfig", p.Kubeconfig, "--since", "1h", "-o", "json").out)), &first); err != nil {
		t.Fatal(err)
	}
	p.tree(strconv.FormatInt(first.Revision, 10)) // the creation causes no more events
	p.kubectl("scale", "deployment/web", "--replicas=50")
	p.kubectl("rollout", "status", "deployment/web")
	last := json.NewDecoder(strings.NewReader(fairlead(t, "trace", "deploy/web", "--kubeconfig", p.Kubeconfig, "--since", "1h", "-o", "json").out))
	var root show.Event
	for root.Subresource != "scale" {
		root = show.Event{}
		if err := last.Decode(&root); err != nil {
			t.Fatal("no event of the scaling: ", err)
		}
	}
	if root.User != "kubernetes-admin" || !strings.HasPrefix(root.Agent, "kubectl") || root.Verb != "patch" || len(root.Causes) != 0 {
		t.Errorf("the root: %+v", root)
	}

	all, at := p.tree(strconv.FormatInt(root.Revision, 10))
	made := map[string]show.Event{}
	bound, ran := map[string]bool{}, map[string]bool{}
	whole := false
	for _, e := range all {
		if e.Resource != "events" { // which the scheduler writes later, without a cause
			complete(t, e)
		}
		var cause show.Event
		if len(e.Causes) > 0 {
			cause = at[e.Causes[0]]
		}
		switch {
		case e.Resource == "pods" && e.Type == "ADDED":
			made[e.Name] = e
			if cause.Resource != "replicasets.apps" || !strings.HasSuffix(e.User, ":replicaset-controller") {
				t.Errorf("%s was caused by %s", show.Title(e.Life), show.Title(cause.Life))
			}
		case e.Resource == "pods" && e.Subresource == "binding":
			bound[e.Name] = true
			if cause.Revision != made[e.Name].Revision || e.User != "system:kube-scheduler" {
				t.Errorf("%s was bound by %s because of %s", e.Name, e.User, show.Title(cause.Life))
			}
		case e.Resource == "pods" && e.Subresource == "status" && cause.Subresource == "binding":
			ran[e.Name] = cause.Name == e.Name
		case e.Resource == "deployments.apps" && e.Subresource == "status":
			whole = true
		}
	}
	if len(made) != 49 || len(bound) != 49 || len(ran) != 49 || !whole {
		t.Errorf("%d pods made, %d bound, %d run; the deployment's status is among it: %v", len(made), len(bound), len(ran), whole)
	}
	for name, e := range made {
		if !seen(e, "", "e2e.test/") || !seen(e, "system:kube-scheduler", "") {
			t.Errorf("%s was not sent to all its watchers: %+v", name, e.Deliveries)
		}
		if len(e.Arrivals) == 0 || !worked(e, "default-scheduler") {
			t.Errorf("%s: arrivals %+v, works %+v", name, e.Arrivals, e.Reconciles)
		}
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// complete checks that an event has every hop, in the order of time, and that all its
// watchers have been sent it.
func complete(t *testing.T, e show.Event) {
	t.Helper()
	before := time.Duration(0)
	for i, h := range e.Hops {
		if i >= len(hops) || h.Hop != hops[i] || h.At < before {
			t.Errorf("%s: hop %d is %s at %v, after %v", show.Title(e.Life), i, h.Hop, h.At, before)
		}
		before = h.At
	}
	if len(e.Hops) != len(hops) && e.Type != "DELETED" {
		t.Errorf("%s: hops %v", show.Title(e.Life), e.Hops)
	}
	if len(e.Waiting) > 0 {
		t.Errorf("%s has not been sent to %+v", show.Title(e.Life), e.Waiting)
	}
	for _, d := range e.Deliveries {
		if d.Framed < before || d.Flushed < d.Framed {
			t.Errorf("%s: cached at %v, framed at %v, flushed at %v", show.Title(e.Life), before, d.Framed, d.Flushed)
		}
	}
	for _, a := range e.Arrivals {
		if a.Read < before || a.Decoded < a.Read || a.Stored < a.Decoded {
			t.Errorf("%s: arrival %+v", show.Title(e.Life), a)
		}
	}
	for _, w := range e.Reconciles {
		if w.Begun < before || w.Ended < w.Begun || w.Queued != 0 && w.Begun < w.Queued {
			t.Errorf("%s: work %+v", show.Title(e.Life), w)
		}
	}
}

func seen(e show.Event, user, agent string) bool {
	for _, d := range e.Deliveries {
		if (user == "" || d.User == user) && strings.HasPrefix(d.Agent, agent) {
			return true
		}
	}
	return false
}

func worked(e show.Event, controller string) bool {
	for _, w := range e.Reconciles {
		if w.Controller == controller {
			return true
		}
	}
	return false
}

// TestTraceRefusals: an invalid request prints one line.
func TestTraceRefusals(t *testing.T) {
	t.Parallel()
	p := up(t, t.TempDir(), "--in-memory", "--nodes=0")
	at := "--kubeconfig=" + p.Kubeconfig
	fairlead(t, "trace", at, "--rv", "999999").fails(t, 1, "does not have revision 999999")
	fairlead(t, "trace", at, "gizmo/x", "--since=1m").fails(t, 1, `no kind "gizmo"`)
	fairlead(t, "trace", at, "configmap/nope", "--since=1m").fails(t, 1, `configmaps "default/nope" does not exist`)
	fairlead(t, "trace", at, "-o", "table").fails(t, 2, "json or otlp")
	fairlead(t, "trace", at, "--rv=-1").fails(t, 2, "must be 0 or more")
	fairlead(t, "trace", at, "pod/a", "pod/b").fails(t, 2, "one KIND/NAME")
	p.stop()
	p = up(t, t.TempDir(), "--in-memory", "--nodes=0", "--trace-events=0")
	defer p.stop()
	fairlead(t, "trace", "--kubeconfig="+p.Kubeconfig, "--since=1m").fails(t, 1, "keeps no lives")
}

// TestDemo runs `fairlead demo` with JSON output and with text.
func TestDemo(t *testing.T) {
	t.Parallel()
	r := fairlead(t, "demo", "--replicas=7", "-o", "json")
	in, pods, last := json.NewDecoder(strings.NewReader(r.out)), 0, show.Event{}
	for in.More() {
		last = show.Event{}
		if err := in.Decode(&last); err != nil {
			t.Fatal(err)
		}
		if last.Resource == "pods" && last.Type == "ADDED" {
			pods++
		}
	}
	if r.code != 0 || pods != 7 {
		t.Errorf("exit %d, %d pods\n%s", r.code, pods, r.errs)
	}
	r = fairlead(t, "demo", "--replicas=2")
	expect(t, "the demo", r.out, "published", "cached", "deployment: default/web", "└─ MODIFIED", "create binding, kube-scheduler", "One write caused")
	expect(t, "the progress", r.errs, "Started", "Scaled", "Running")
	fairlead(t, "demo", "--replicas=0").fails(t, 2, "want 1 to 1000")
}

// TestFaults injects faults with `fairlead fault`, which a server without --allow-faults
// refuses.
func TestFaults(t *testing.T) {
	t.Parallel()
	p := up(t, t.TempDir(), "--in-memory", "--nodes=0", "--allow-faults")
	at := "--kubeconfig=" + p.Kubeconfig
	expect(t, "what was added", fairlead(t, "fault", "add", "fail", at, "--kind=cm", "--name=one", "--verb=patch", "--code=409").out, "fail", "patch configmaps one", "409")
	p.kubectl("create", "configmap", "one")
	var failed struct{ Fault int }
	r := p.kubectlFails("label", "configmap", "one", "a=b")
	if !strings.Contains(r, "on purpose") {
		t.Errorf("kubectl printed %s", r)
	}
	told := fairlead(t, "trace", at, "cm/one", "--since=1h")
	expect(t, "the trace", told.out, "fault 1, fail: patch configmaps default/one by kubernetes-admin failed with 409")
	if err := json.Unmarshal([]byte(fairlead(t, "fault", "add", "hold", at, "--client=nobody", "-o", "json").out), &struct{ ID *int }{&failed.Fault}); err != nil || failed.Fault != 2 {
		t.Errorf("%v %v", failed, err)
	}
	expect(t, "the list", fairlead(t, "fault", "list", at).out, "hold", "by nobody")
	fairlead(t, "fault", "remove", at, "7").fails(t, 1, "no fault 7")
	fairlead(t, "fault", "remove", at, "--all")
	if out := fairlead(t, "fault", "list", at).out; strings.Contains(out, "hold") {
		t.Error(out)
	}
	fairlead(t, "fault", "add", at, "burn").fails(t, 2, "takes one of")
	fairlead(t, "fault", "add", at, "delay").fails(t, 1, "needs a delay")
	fairlead(t, "fault", "remove", at).fails(t, 2, "--all")
	p.stop()
	p = up(t, t.TempDir(), "--in-memory", "--nodes=0")
	defer p.stop()
	fairlead(t, "fault", "add", "hold", "--kubeconfig="+p.Kubeconfig).fails(t, 1, "--allow-faults")
}
