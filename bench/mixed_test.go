package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMixedWindows divides a minute and a half of requests, of which each takes its number in microseconds.
func TestMixedWindows(t *testing.T) {
	m := &mix{bench: &bench{sizes: sizes{Rate: 1000}}, took: make([]time.Duration, 90_000)}
	for i := range m.took {
		m.took[i] = time.Duration(i) * time.Microsecond
	}
	calm, storm := m.summarize()
	if len(calm) != 70_000 || len(storm) != 20_000 || storm[0] != 20*time.Millisecond || calm[0] != 0 {
		t.Errorf("%d times without a storm and %d with one, which begin with %s and %s", len(calm), len(storm), calm[0], storm[0])
	}
	if len(m.windows) != 9 {
		t.Fatalf("%d windows", len(m.windows))
	}
	for i, w := range m.windows {
		if w.Storm != (i == 2 || i == 8) {
			t.Errorf("window %d: storm %t", i, w.Storm)
		}
	}
	if w := m.windows[1]; w.P50 != 15 || w.P99 != 19.9 || w.P999 != 19.99 || w.Most != 19.999 || w.Minute != 20.0/60 {
		t.Errorf("%+v", w)
	}
}

// TestMixedIsDrawn checks that the drawing is XML, has a panel for each server, a line for each percentile and shades the storms.
func TestMixedIsDrawn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mixed.svg")
	windows := []window{{Minute: 1. / 6, P50: 0.5, P99: 3, P999: 20, Most: 70}, {Minute: 2. / 6, Storm: true, P50: 2, P99: 30, P999: 200, Most: 900}}
	r := &report{Sizes: small, Peers: []string{"fairlead", "kube-apiserver"}, Windows: map[string][]window{"fairlead": windows, "kube-apiserver": windows}}
	if err := drawMixed(file, r); err != nil {
		t.Fatal(err)
	}
	drawn, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	checkXML(t, drawn)
	for text, n := range map[string]int{"fairlead: 200": 1, "kube-apiserver: 200": 1, "<polyline": 8, "#f3ecd8": 2, ">0.1<": 2, ">1000<": 2} {
		if got := strings.Count(string(drawn), text); got != n {
			t.Errorf("%q is there %d times, want %d", text, got, n)
		}
	}
}
