package top

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/internal/client/lives"
	"fairlead.dev/internal/trace/why"
)

var began = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

func kindOf(group, version, resource, kind string, namespaced bool, short ...string) client.APIResource {
	gv := schema.GroupVersion{Group: group, Version: version}
	return client.APIResource{
		GVR: gv.WithResource(resource), Kind: gv.WithKind(kind), Namespaced: namespaced, Preferred: true,
		Singular: strings.ToLower(kind), ShortNames: short, Verbs: []string{"list", "watch", "get", "delete"},
	}
}

// begin makes a model whose requests are not sent: a test hands it the answers.
func begin(t *testing.T, w, h int) *Model {
	t.Helper()
	m := newModel(&link{ctx: t.Context()}, Options{
		Host: "https://127.0.0.1:6443", Describe: func(err error) string { return err.Error() },
		Kinds: []client.APIResource{
			kindOf("", "v1", "pods", "Pod", true, "po"), kindOf("", "v1", "nodes", "Node", false, "no"),
			kindOf("", "v1", "podtemplates", "PodTemplate", true), kindOf("apps", "v1", "deployments", "Deployment", true, "deploy"),
		},
	})
	m.now = began
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	return m
}

// press presses keys: names of keys, or the characters of a text.
func press(m *Model, keys ...string) (last tea.Cmd) {
	special := map[string]tea.KeyPressMsg{
		"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
		"pgdown": {Code: tea.KeyPgDown}, "end": {Code: tea.KeyEnd}, "home": {Code: tea.KeyHome}, "right": {Code: tea.KeyRight},
		"ctrl+d": {Code: 'd', Mod: tea.ModCtrl}, "ctrl+c": {Code: 'c', Mod: tea.ModCtrl},
	}
	for _, k := range keys {
		if msg, ok := special[k]; ok {
			_, last = m.Update(msg)
			continue
		}
		for _, r := range k {
			_, last = m.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
	return last
}

// screenOf draws the model, and checks that it fits.
func screenOf(t *testing.T, m *Model) string {
	t.Helper()
	text, _ := m.render()
	plain := ansi.Strip(text)
	all := strings.Split(plain, "\n")
	if len(all) > max(m.height, 1) {
		t.Errorf("%d lines on %d", len(all), m.height)
	}
	for _, line := range all {
		if n := ansi.StringWidth(line); n > m.width {
			t.Errorf("a line of %d cells on %d: %q", n, m.width, line)
		}
	}
	return plain
}

// shows checks that the screen has texts.
func shows(t *testing.T, m *Model, texts ...string) {
	t.Helper()
	seen := screenOf(t, m)
	for _, text := range texts {
		if !strings.Contains(seen, text) {
			t.Errorf("%q is missing on\n%s", text, seen)
		}
	}
}

// hides checks that the screen does not have texts.
func hides(t *testing.T, m *Model, texts ...string) {
	t.Helper()
	seen := screenOf(t, m)
	for _, text := range texts {
		if strings.Contains(seen, text) {
			t.Errorf("%q is on\n%s", text, seen)
		}
	}
}

var podColumns = []metav1.TableColumnDefinition{
	{Name: "Name"}, {Name: "Ready"}, {Name: "Status"}, {Name: "Restarts"}, {Name: "Age"}, {Name: "IP", Priority: 1}, {Name: "Node", Priority: 1},
}

func pod(n int, state string) row {
	name := fmt.Sprintf("web-%05d", n)
	return row{
		uid: types.UID(name), namespace: "default", name: name, created: began.Add(-time.Duration(n) * time.Second),
		cells: []string{name, "1/1", state, fmt.Sprint(n % 7), "", "10.128.0.2", "node-1"},
	}
}

// browsing opens the pods, and answers with n of them.
func browsing(t *testing.T, m *Model, n int) *browser {
	t.Helper()
	press(m, ":pods", "enter")
	b, ok := m.screen().(*browser)
	if !ok {
		t.Fatalf(":pods opened %T", m.screen())
	}
	c := change{reset: true, columns: podColumns, whole: true}
	for i := range n {
		c.rows = append(c.rows, pod(i, "Running"))
	}
	m.Update(batch[change]{id: b.id, items: []change{c}})
	return b
}

var troubled = why.Survey{
	Objects: 1234,
	Problems: []why.Problem{{
		Cause:   why.Cause{Kind: "Pod", Resource: "pods", Objects: []string{"shop/cart-1", "shop/cart-2"}, Text: "container web waits: ImagePullBackOff", Next: "correct the image's name"},
		Affects: []why.Affected{{Kind: "Deployment", Resource: "deployments.apps", Namespace: "shop", Name: "cart"}},
	}, {
		Cause: why.Cause{Kind: "Node", Resource: "nodes", Objects: []string{"node-2"}, Text: "its kubelet has stopped reporting"},
	}},
	Rollouts: []why.Rollout{{Affected: why.Affected{Kind: "Deployment", Resource: "deployments.apps", Namespace: "shop", Name: "cart"}, Done: 1, Want: 3}},
	Nodes:    []why.NodeFill{{Name: "node-1", Ready: true, Pods: 99, MaxPods: 110, CPU: 500, MaxCPU: 4000, Memory: 1, MaxMemory: 1 << 30}, {Name: "node-2"}},
}

func surveyed(m *Model, s why.Survey) {
	m.Update(answer[why.Survey]{id: m.screen().(*overview).fresh.id, it: s})
}

func happened(m *Model, all ...event) {
	m.Update(batch[traced]{id: m.trace.id, items: []traced{{began: true}, {events: all}}})
}

func written(revision int64, resource, name string) event {
	return event{revision: revision, kind: "MODIFIED", resource: resource, namespace: "shop", name: name, verb: "update status", user: "kube-scheduler", began: began.Add(-time.Second), took: 2 * time.Millisecond}
}

func TestOverview(t *testing.T) {
	m := begin(t, 100, 40)
	shows(t, m, "Looking at all objects")
	surveyed(m, troubled)
	happened(m, written(7, "pods", "a"), written(8, "pods", "b"), written(9, "leases.coordination.k8s.io", "node-1"))
	shows(t, m, "2 problems: 1,234 objects, 2 nodes", "2 pods: container web waits: ImagePullBackOff", "next: correct the image's name",
		"affects: Deployment shop/cart", "Deployment shop/cart", "1 of 3", "node-1  Ready", " 90%", "NotReady", "2 in a minute, 1 heartbeat ", "0.2/s")
	press(m, "down", "enter")
	if i, ok := m.screen().(*inspector); !ok || i.what.String() != "node node-2" {
		t.Errorf("Enter at the second problem opened %v", m.screen())
	}
	press(m, "esc")
	shows(t, m, "2 problems")
}

func TestBrowse(t *testing.T) {
	m := begin(t, 100, 12)
	b := browsing(t, m, 100)
	shows(t, m, "pods in all namespaces: 100 objects", "NAMESPACE", "web-00000", "Running")
	hides(t, m, "web-00050")
	press(m, "end")
	shows(t, m, "web-00099")

	// The chosen object stays chosen while others come and go.
	press(m, "home", "down", "down")
	early := pod(0, "Failed")
	early.uid, early.namespace = "early", "aaa"
	m.Update(batch[change]{id: b.id, items: []change{{rows: []row{early}}, {gone: []types.UID{"web-00000"}}}})
	if o, _ := b.current(); o.name != "web-00002" {
		t.Errorf("%s is chosen", o)
	}
	shows(t, m, "100 objects", "aaa")

	press(m, "/", "failed")
	shows(t, m, "1 of 100 objects", "aaa")
	hides(t, m, "web-00002")
	press(m, "enter", "/", " -aaa", "enter")
	shows(t, m, "No object has these words")
	press(m, "esc")
	shows(t, m, "web-00002")
}

func TestBrowseSorts(t *testing.T) {
	m := begin(t, 100, 12)
	b := browsing(t, m, 20)
	first := func() string { return b.table.shown[0].name }
	press(m, ">>>>>") // by age
	if first() != "web-00000" {
		t.Errorf("the youngest is %s", first())
	}
	shows(t, m, "AGE↑")
	press(m, "r")
	if first() != "web-00019" {
		t.Errorf("the oldest is %s", first())
	}
	press(m, "<") // by restarts
	if got := b.table.shown[0].cell(3); got != "6" {
		t.Errorf("the most restarts are %s", got)
	}
	for cell, want := range map[string]float64{"3 (2m ago)": 3, "12/50": 12, "7": 7, "1.5": 1.5} {
		if got, ok := leadingNumber(cell); !ok || got != want {
			t.Errorf("%q: %v", cell, got)
		}
	}
	if _, ok := leadingNumber("10.128.0.2"); ok {
		t.Error("an address is no number")
	}
}

// Ages grow with the clock, without an event.
func TestAges(t *testing.T) {
	m := begin(t, 100, 12)
	browsing(t, m, 1)
	shows(t, m, "0s")
	m.Update(tick(began.Add(90 * time.Second)))
	shows(t, m, "90s")
}

// Names that controllers make differ at their ends, which a narrow screen must show.
func TestNarrow(t *testing.T) {
	m := begin(t, 60, 15)
	b := browsing(t, m, 0)
	c := change{}
	for _, end := range []string{"abcde", "fghij"} {
		p := pod(1, "CreateContainerConfigError")
		p.uid, p.name = types.UID(end), "checkout-service-5b7c9d-"+end
		p.cells[0] = p.name
		c.rows = append(c.rows, p)
	}
	m.Update(batch[change]{id: b.id, items: []change{c}})
	shows(t, m, "abcde", "fghij", "default", "1/1")
	m.Update(tea.WindowSizeMsg{Width: 160, Height: 15})
	shows(t, m, "checkout-service-5b7c9d-abcde", "CreateContainerConfigError", "node-1")
}

func TestKindPrompt(t *testing.T) {
	m := begin(t, 100, 20)
	press(m, ":po")
	shows(t, m, "pods  podtemplates", ":po")
	press(m, "tab", "tab", "enter")
	shows(t, m, "podtemplates in all namespaces")
	press(m, ":deploy shop", "enter")
	shows(t, m, "deployments.apps in shop")
	press(m, "0")
	shows(t, m, "deployments.apps in all namespaces")
	press(m, ":no", "enter")
	shows(t, m, "nodes: ")
	press(m, ":nonsense", "enter")
	shows(t, m, "The server has no kind nonsense")
	press(m, "n")
	m.Update(answer[names]{it: names{"default", "shop"}})
	press(m, "sh", "tab")
	shows(t, m, "namespace: shop")
	press(m, "enter", "b")
	if m.namespace != "shop" {
		t.Errorf("namespace %q", m.namespace)
	}
	if cmd := press(m, ":q", "enter"); cmd == nil || cmd() != tea.Quit() {
		t.Error(":q does not quit")
	}
}

func TestInspector(t *testing.T) {
	m := begin(t, 80, 12)
	browsing(t, m, 3)
	press(m, "enter")
	i := m.screen().(*inspector)
	m.Update(answer[text]{id: i.fresh.id, it: text{lines: []string{"Pod default/web-00000 is Running", strings.Repeat("long ", 40)}}})
	shows(t, m, "pod default/web-00000: Why", "is Running", "y YAML", "l Logs")
	old := i.fresh.id
	press(m, "y")
	m.Update(answer[text]{id: old, it: text{lines: []string{"late"}}})
	hides(t, m, "late")
	var doc []string
	for n := range 100 {
		doc = append(doc, fmt.Sprintf("field%d: value", n))
	}
	m.Update(answer[text]{id: i.fresh.id, it: text{lines: doc}})
	shows(t, m, "YAML  1-9 of 100", "field0:")
	press(m, "/", "field77", "enter")
	shows(t, m, "field77: value", "/field77: 1 line")
	press(m, "esc", "esc")
	shows(t, m, "pods in all namespaces")
}

func TestLogs(t *testing.T) {
	m := begin(t, 80, 12)
	browsing(t, m, 1)
	press(m, "l")
	i := m.screen().(*inspector)
	m.Update(answer[containers]{id: i.fresh.id, it: containers{"web", "sidecar"}})
	shows(t, m, "Logs of container web (1 of 2)")
	say := func(from, to int) {
		var b batch[logLine]
		for b.id = i.id; from < to; from++ {
			b.items = append(b.items, logLine{line: fmt.Sprint("line ", from)})
		}
		m.Update(b)
	}
	say(0, 100)
	shows(t, m, "line 99")
	press(m, "up", "up")
	say(100, 200)
	hides(t, m, "line 199")
	press(m, "end")
	say(200, 201+maxLog)
	shows(t, m, fmt.Sprint("line ", 200+maxLog), "of 5,000")
	old := i.id
	press(m, "c")
	shows(t, m, "container sidecar (2 of 2)", "reading")
	m.Update(batch[logLine]{id: old, items: []logLine{{line: "of the other container"}}})
	hides(t, m, "of the other container")
}

func TestTrace(t *testing.T) {
	m := begin(t, 120, 12)
	press(m, "t")
	var all []event
	for n := range 50 {
		all = append(all, written(int64(n+1), "pods", fmt.Sprint("web-", n)))
	}
	all[49].failed = true
	happened(m, append(all, written(51, "nodes", "node-1"))...)
	shows(t, m, "Events: 50", "pods shop/web-49", "kube-scheduler: update status", "failed", "2.0 ms")
	hides(t, m, "node-1")
	press(m, "h")
	shows(t, m, "Events: 51", "nodes shop/node-1")
	press(m, "h", "p")
	m.Update(batch[traced]{id: m.trace.id, items: []traced{{events: []event{written(60, "pods", "new")}}}})
	hides(t, m, "shop/new")
	press(m, "p")
	shows(t, m, "shop/new")
	press(m, "up", "enter")
	s, ok := m.screen().(*life)
	if !ok || s.of.revision != 50 {
		t.Fatalf("Enter opened %v", m.screen())
	}
	m.Update(answer[text]{id: s.fresh.id, it: text{lines: []string{"50 MODIFIED pods shop/web-49"}}})
	shows(t, m, "The life of event 50", "50 MODIFIED pods")
	press(m, "c")
	m.Update(answer[text]{id: s.fresh.id, it: text{lines: []string{"root", "├─ effect"}, mark: 1}})
	shows(t, m, "The causes and effects of event 50", "▶ ├─ effect")
	press(m, "r")
	m.Update(answer[text]{id: s.fresh.id, err: errForgotten})
	shows(t, m, "no longer has this event")
}

// The trace keeps a bounded number of events.
func TestTraceIsBounded(t *testing.T) {
	m := begin(t, 100, 20)
	for n := range 3 * maxEvents {
		m.Update(batch[traced]{id: m.trace.id, items: []traced{{events: []event{written(int64(n), "pods", "a")}}}})
	}
	if len(m.trace.events) != maxEvents || m.trace.events[maxEvents-1].revision != 3*maxEvents-1 {
		t.Errorf("%d events", len(m.trace.events))
	}
}

// A server without a trace is no reason to stop.
func TestWithoutTrace(t *testing.T) {
	m := begin(t, 100, 20)
	m.Update(batch[traced]{id: m.trace.id, items: []traced{{err: lives.ErrNone}}})
	surveyed(m, troubled)
	shows(t, m, "2 problems", "keeps no lives")
	press(m, "t")
	shows(t, m, "keeps no lives")
}

func TestDelete(t *testing.T) {
	m := begin(t, 100, 12)
	browsing(t, m, 3)
	press(m, "ctrl+d")
	shows(t, m, "Delete pod default/web-00000? y deletes it")
	if cmd := press(m, "enter"); cmd != nil {
		t.Error("Enter deletes")
	}
	shows(t, m, "Nothing was deleted")
	press(m, "ctrl+d")
	if cmd := press(m, "y"); cmd == nil {
		t.Error("y does not delete")
	}
	o := object{kind: m.kinds[0], namespace: "default", name: "web-00000"}
	m.Update(answer[removed]{it: removed{o}})
	shows(t, m, "Deleted pod default/web-00000")
	m.Update(answer[removed]{err: apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "web-00000", errors.New("not yours"))})
	shows(t, m, "not yours")
}

// An outage is reported while it lasts, and the last state stays.
func TestOutage(t *testing.T) {
	m := begin(t, 100, 12)
	b := browsing(t, m, 3)
	m.Update(batch[change]{id: b.id, items: []change{{err: io.ErrUnexpectedEOF}}})
	shows(t, m, "the connection to https://127.0.0.1:6443 broke: unexpected EOF; trying again", "web-00000")
	m.Update(batch[change]{id: b.id, items: []change{{reset: true, columns: podColumns, rows: []row{pod(9, "Running")}, whole: true}}})
	hides(t, m, "trying again", "web-00000")
	shows(t, m, "web-00009")
	m.Update(batch[change]{id: b.id, items: []change{{err: apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("not yours"))}}})
	shows(t, m, "not yours", "n chooses a namespace")
	hides(t, m, "trying again")
}

// A stream whose screen has closed ends: its next batch is not asked for.
func TestClosedStreams(t *testing.T) {
	m := begin(t, 100, 12)
	b := browsing(t, m, 1)
	next := func() tea.Msg { return nil }
	if _, cmd := m.Update(batch[change]{id: b.id, next: next}); cmd == nil {
		t.Error("an open stream is not read")
	}
	press(m, "o")
	if _, cmd := m.Update(batch[change]{id: b.id, next: next}); cmd != nil {
		t.Error("a closed stream is read")
	}
}

// Every screen fits every terminal.
func TestSizes(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {10, 3}, {20, 5}, {60, 15}, {80, 24}, {100, 30}, {129, 40}, {130, 40}, {200, 50}, {250, 80}} {
		m := begin(t, size[0], size[1])
		screenOf(t, m)
		surveyed(m, troubled)
		happened(m, written(1, "pods", strings.Repeat("long", 30)), written(2, "pods", "世界世界世界世界世界世界"))
		screenOf(t, m)
		press(m, "?")
		screenOf(t, m)
		press(m, "esc", "t")
		screenOf(t, m)
		b := browsing(t, m, 500)
		wide := pod(1, "世界")
		wide.name = strings.Repeat("ü", 300)
		wide.uid, wide.cells[0] = "wide", wide.name
		m.Update(batch[change]{id: b.id, items: []change{{rows: []row{wide}}}})
		screenOf(t, m)
		press(m, "end", "right", "right", "right")
		screenOf(t, m)
		press(m, "y")
		i := m.screen().(*inspector)
		m.Update(answer[text]{id: i.fresh.id, it: text{lines: []string{strings.Repeat("0123456789", 50), "\x1b[1mbold\x1b[0m"}}})
		screenOf(t, m)
		press(m, "z")
		screenOf(t, m)
		press(m, ":", strings.Repeat("text", 100))
		screenOf(t, m)
		press(m, "esc", "ctrl+d")
		screenOf(t, m)
		m.outage = strings.Repeat("no route ", 50)
		screenOf(t, m)
	}
}

func TestQuit(t *testing.T) {
	for _, key := range []string{"q", "ctrl+c"} {
		m := begin(t, 80, 24)
		if cmd := press(m, key); cmd == nil || cmd() != tea.Quit() {
			t.Errorf("%s does not quit", key)
		}
	}
}
