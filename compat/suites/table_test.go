//go:build suites

package suites

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// heading is that of the table. "In cases" and "CPU" are pairs of seconds, Fairlead's first.
const heading = `| package | cases | not passed | Fairlead | kube-apiserver + etcd | ratio | in cases | CPU | load |
|--- |--- |--- |--- |--- |--- |--- |--- |--- |
`

// runs are the runs of one program on one pair, one a round.
type runs []run

// measurement holds the runs of a program on each pair, Fairlead first.
type measurement struct {
	pkg  string // "pkg/client"
	runs []runs
}

// row is the line of the table, with medians.
func (m measurement) row() string {
	ours := m.runs[0]
	cells := []string{m.pkg, fmt.Sprint(len(ours[0].cases)), ours.rest(), seconds(ours.median(wall)) + " s", "", "",
		seconds(ours.median(inCases)), seconds(ours.median(cpu)), ours[0].load}
	if len(m.runs) > 1 {
		theirs := m.runs[1]
		cells[4] = seconds(theirs.median(wall)) + " s"
		cells[5] = fmt.Sprintf("%.1fx", theirs.median(wall).Seconds()/ours.median(wall).Seconds())
		cells[6] += " / " + seconds(theirs.median(inCases))
		cells[7] += " / " + seconds(theirs.median(cpu))
		if rest := theirs.rest(); rest != cells[2] {
			cells[2] += " / " + rest
		}
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()) }

func wall(r run) time.Duration    { return r.took }
func cpu(r run) time.Duration     { return r.cpu }
func inCases(r run) time.Duration { return r.inCases }

// median returns the median of a value of the runs; of an even number of runs, the greater of the two in the middle.
func (rs runs) median(of func(run) time.Duration) time.Duration {
	var all []time.Duration
	for _, r := range rs {
		all = append(all, of(r))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// rest says how many cases failed in some round and how many were skipped in all.
func (rs runs) rest() string {
	var fail, skip int
	for name := range rs.names() {
		switch rs.outcome(name) {
		case failed:
			fail++
		case skipped:
			skip++
		}
	}
	var parts []string
	if fail > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", fail))
	}
	if skip > 0 {
		parts = append(parts, fmt.Sprintf("%d skipped", skip))
	}
	return strings.Join(parts, ", ")
}

// names returns the names of the cases of all runs.
func (rs runs) names() map[string]bool {
	names := map[string]bool{}
	for _, r := range rs {
		for name := range r.cases {
			names[name] = true
		}
	}
	return names
}

// outcome returns the worst outcome of a case.
func (rs runs) outcome(name string) outcome {
	seen := map[outcome]bool{}
	for _, r := range rs {
		o := r.cases[name].outcome
		if o == "" {
			o = absent
		}
		seen[o] = true
	}
	for _, o := range []outcome{failed, absent, skipped} {
		if seen[o] {
			return o
		}
	}
	return passed
}

// tail returns the last output of the first run in which a case failed.
func (rs runs) tail() string {
	for _, r := range rs {
		if r.failed() {
			return string(r.out[max(0, len(r.out)-6000):])
		}
	}
	return ""
}
