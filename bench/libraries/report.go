package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// report has all measurements.
type report struct {
	Began      time.Time `json:"began"`
	Go         string    `json:"go"`
	CPUs       int       `json:"cpus"`
	LoadBefore string    `json:"loadBefore"` // average of a minute
	LoadAfter  string    `json:"loadAfter"`
	Rounds     int       `json:"rounds"`
	Libraries  []string  `json:"libraries"`
	Lines      []*line   `json:"rows"`
}

// line is one figure of all libraries.
type line struct {
	Row    string               `json:"row"`
	What   string               `json:"what"`
	Unit   string               `json:"unit,omitempty"`
	Goal   float64              `json:"goal"` // ratio to client-go
	Values map[string][]float64 `json:"values"`
	// Ratios are how many times better the first library is than each other: the median
	// of the rounds' ratios.
	Ratios map[string]float64 `json:"ratios"`
	more   bool
	key    string
}

func newReport(names []string, rounds int) *report {
	return &report{Began: time.Now().UTC(), Go: runtime.Version(), CPUs: runtime.NumCPU(), LoadBefore: loadAverage(), Rounds: rounds, Libraries: names}
}

func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

// add adds the figures of one library's turn at a row.
func (r *report) add(of row, library string, f figures) {
	for _, s := range of.shown {
		i := slices.IndexFunc(r.Lines, func(l *line) bool { return l.Row == of.name && l.What == s.what && l.key == s.key })
		if i < 0 {
			i = len(r.Lines)
			r.Lines = append(r.Lines, &line{Row: of.name, What: s.what, Unit: s.unit, Goal: s.goal, Values: map[string][]float64{}, more: s.more, key: s.key})
		}
		l := r.Lines[i]
		l.Values[library] = append(l.Values[library], f[s.key]/s.scale)
	}
}

func (r *report) print(output string) error {
	r.LoadAfter = loadAverage()
	for _, l := range r.Lines {
		l.compare(r.Libraries)
	}
	table := io.Writer(os.Stdout)
	if output == "json" {
		table = os.Stderr
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		if err := e.Encode(r); err != nil {
			return err
		}
	}
	return r.table(table)
}

// compare computes the ratios.
func (l *line) compare(names []string) {
	l.Ratios = map[string]float64{}
	for _, other := range names[1:] {
		var ratios []float64
		for i, ours := range l.Values[names[0]] {
			theirs := l.Values[other][i]
			if l.more {
				ours, theirs = theirs, ours
			}
			if theirs == ours { // both zero, for example
				ratios = append(ratios, 1)
			} else {
				ratios = append(ratios, theirs/max(ours, least))
			}
		}
		l.Ratios[other] = median(ratios)
	}
}

// least replaces zero as a divisor.
const least = 0.01

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

func (r *report) table(out io.Writer) error {
	fmt.Fprintf(out, "%d CPUs, %s, load average %s before and %s after; medians of %d rounds\n\n", r.CPUs, r.Go, r.LoadBefore, r.LoadAfter, r.Rounds)
	w := tabwriter.NewWriter(out, 0, 0, 1, ' ', 0)
	head, rule := "| row\t| figure", "|---\t|---"
	for _, name := range r.Libraries {
		head += "\t| " + name
		rule += "\t|---"
	}
	for _, name := range r.Libraries[1:] {
		head += "\t| to " + name
		rule += "\t|---"
	}
	fmt.Fprintln(w, head+"\t| goal\t|\n"+rule+"\t|---\t|")
	last := ""
	for _, l := range r.Lines {
		name := l.Row
		if name == last {
			name = ""
		}
		last = l.Row
		fmt.Fprintf(w, "| %s\t| %s", name, l.What)
		for _, lib := range r.Libraries {
			fmt.Fprintf(w, "\t| %s", strings.TrimSpace(format(median(l.Values[lib]))+" "+l.Unit))
		}
		for _, lib := range r.Libraries[1:] {
			fmt.Fprintf(w, "\t| %.1fx", l.Ratios[lib])
		}
		fmt.Fprintf(w, "\t| %.0fx\t|\n", l.Goal)
	}
	return w.Flush()
}

func format(v float64) string {
	switch {
	case v >= 100 || v == 0:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
