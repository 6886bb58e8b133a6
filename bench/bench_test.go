package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
)

// The mark by which events are identified is in a pod once, whatever else its server writes
// about the annotation.
func TestEventSeq(t *testing.T) {
	pod, err := newPod(7, 20, 100)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(pod); n < 900 || n > 1300 {
		t.Errorf("a pod is %d bytes, want about 1 KB", n)
	}
	served := bytes.Replace(pod, []byte(seqMark+"none"), []byte(`"f:`+seqKey+`":{},`+seqMark+"fan-12"), 1)
	ev := event(`{"type":"MODIFIED","object":` + string(served) + "}\n")
	if err := ev.of("fan-12"); err != nil {
		t.Error(err)
	}
	if ev.of("fan-1") == nil || ev.expect("ADDED") == nil {
		t.Error("another event passed for this one")
	}
	if got := event(`{"type":"MODIFIED","object":{}}`).seq(); got != "" {
		t.Errorf("no annotation gives %q", got)
	}
}

func TestFramesOfAnyLength(t *testing.T) {
	long := strings.Repeat("x", 40)
	f := &frames{r: bufio.NewReaderSize(strings.NewReader("a\n"+long+"\nb\n"), 16)}
	for _, want := range []string{"a\n", long + "\n", "b\n"} {
		if got, err := f.next(); err != nil || string(got) != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	if _, err := f.next(); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
}

func TestEachStopsAtTheFirstError(t *testing.T) {
	var calls atomic.Int64
	broken := errors.New("broken")
	err := each(context.Background(), 1000, 1, func(_ context.Context, i int) error {
		calls.Add(1)
		if i == 3 {
			return broken
		}
		return nil
	})
	if err != broken || calls.Load() != 4 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
	if err := each(context.Background(), 1000, 8, func(context.Context, int) error { calls.Add(1); return nil }); err != nil || calls.Load() != 1004 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
}

// A ratio is of one round; a round that failed on one side has no ratio.
func TestReport(t *testing.T) {
	o := &options{sizes: small, peers: peers, rounds: 3}
	r := newReport(o, ".")
	for round, v := range []struct{ ours, theirs float64 }{{10, 100}, {20, 100}, {40, 80}} {
		r.add("fairlead", round, figure{"get", v.ours})
		r.add("fairlead", round, figure{"get-rate", 1000})
		r.add("kube-apiserver", round, figure{"get-rate", 100})
		if round < 2 {
			r.add("kube-apiserver", round, figure{"get", v.theirs})
		}
	}
	r.finish()
	if l := r.Rows[0]; l.Row != "get" || l.Median["fairlead"] != 20 || l.Ratio != 7.5 || len(l.Ratios) != 2 {
		t.Errorf("get: %+v", l)
	}
	if l := r.Rows[1]; l.Ratio != 10 {
		t.Errorf("more per second is better: %+v", l)
	}
	var out bytes.Buffer
	if err := r.table(&out); err != nil || !strings.Contains(out.String(), "| get pod: CPU") {
		t.Errorf("%v: %s", err, &out)
	}
}

func TestParse(t *testing.T) {
	o, err := parse([]string{"-loads", "get,create", "-against", "fairlead", "-full", "-pods", "500", "-nodes", "100"})
	if err != nil {
		t.Fatal(err)
	}
	if o.sizes.Pods != 500 || o.sizes.Nodes != 100 || o.sizes.Gets != full.Gets {
		t.Errorf("sizes: %+v", o.sizes)
	}
	if names := fmt.Sprint(o.loads[0].name, " ", o.loads[1].name); names != "create get" {
		t.Errorf("loads in the order %s", names)
	}
	for _, bad := range []string{"-loads x", "-against y", "-pods 150", "-pods 100 -nodes 200", "-replicas 10 -rolled 20", "-beats 10", "-claims 1601", "-rounds 0", "-o xml", "-svg x", "-minutes 0", "more"} {
		if _, err := parse(strings.Fields(bad)); err == nil || errors.Is(err, flag.ErrHelp) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// Loads of whole control planes have one of their own for each number of nodes.
func TestActs(t *testing.T) {
	for names, want := range map[string]string{"all": "0:15", "cluster": "50:4 200:1 1000:1", "schedulers": "200:2", "wide,plain": "200:1 200:1", "get,rollout,wide": "0:1 50:1 200:1"} {
		picked, err := selectLoads(names)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range acts(picked, &small) {
			got = append(got, fmt.Sprintf("%d:%d", a.nodes, len(a.loads)))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s, want %s", names, s, want)
		}
	}
}

// A pod's life is read off events as servers write them, with the version before the name or after it.
func TestLives(t *testing.T) {
	line := func(kind, version, name, rest string) string {
		return `{"type":"` + kind + `","object":{"kind":"Pod","metadata":{` + version + `"name":"` + name + `","ownerReferences":[{"name":"owner"}]},` + rest + "}}\n"
	}
	first := line("ADDED", `"resourceVersion":"5",`, "a", `"spec":{},"status":{"phase":"Pending"}`) +
		line("MODIFIED", `"resourceVersion":"6",`, "a", `"spec":{"nodeName":"node-1"},"status":{"phase":"Pending"}`)
	second := line("MODIFIED", `"resourceVersion":"7",`, "a", `"spec":{"nodeName":"node-1"},"status":{"phase":"Running"}`) +
		line("DELETED", `"resourceVersion":"8",`, "b", `"spec":{"nodeName":"node-1"},"status":{"phase":"Running"}`) +
		`{"type":"ERROR","object":{"kind":"Status"}}` + "\n"
	frame := func(text string) *frames {
		return &frames{body: io.NopCloser(nil), r: bufio.NewReader(strings.NewReader(text))}
	}
	var since []string
	w := &following{now: frame(first), open: func(s string) (*frames, error) {
		since = append(since, s)
		return frame(second), nil
	}}
	l := &lives{following: w, bound: map[string]bool{}, running: map[string]bool{}, gone: map[string]bool{}}
	if err := l.untilRunning(1); err != nil || len(l.bound) != 1 || !l.running["a"] || fmt.Sprint(since) != "[6]" {
		t.Errorf("%v: bound %v, running %v, again since %v", err, l.bound, l.running, since)
	}
	if err := l.until(func() bool { return len(l.gone) > 0 }); err != nil || !l.gone["b"] {
		t.Errorf("%v: gone %v", err, l.gone)
	}
	if err := l.untilRunning(2); err == nil {
		t.Error("an ERROR passed for an event")
	}
}

// Every figure that a load reports has a row.
func TestRowsAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rows {
		if seen[r.key] || r.title(&small) == "" {
			t.Errorf("row %q", r.key)
		}
		seen[r.key] = true
	}
}
