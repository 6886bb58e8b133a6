//go:build suites

package suites

import (
	"fmt"
	"maps"
	"slices"
)

// difference is a case that did not pass on both pairs in all rounds.
type difference struct {
	name string
	text string
	ours bool // it passed on kube-apiserver, or was not tried there, and not on Fairlead
}

func (d difference) String() string { return fmt.Sprintf("%q %s", d.name, d.text) }

// differences returns the cases that failed somewhere or ended differently, by name. A case that is skipped on both
// pairs is not among them.
func (m measurement) differences() []difference {
	names := map[string]bool{}
	for _, rs := range m.runs {
		maps.Copy(names, rs.names())
	}
	var all []difference
	for _, name := range slices.Sorted(maps.Keys(names)) {
		own := m.runs[0].outcome(name)
		if len(m.runs) == 1 {
			if own == failed {
				all = append(all, difference{name, fmt.Sprintf("failed on Fairlead, %s", m.runs[0].count(name)), true})
			}
			continue
		}
		other := m.runs[1].outcome(name)
		switch {
		case own == other && own != failed:
		case own == other:
			all = append(all, difference{name, fmt.Sprintf("failed on both: %s on Fairlead, %s on kube-apiserver",
				m.runs[0].count(name), m.runs[1].count(name)), false})
		default:
			all = append(all, difference{name, fmt.Sprintf("%s on Fairlead (%s), %s on kube-apiserver (%s)",
				own, m.runs[0].count(name), other, m.runs[1].count(name)), other == passed})
		}
	}
	return all
}

// count says in how many rounds a case passed.
func (rs runs) count(name string) string {
	n := 0
	for _, r := range rs {
		if r.cases[name].outcome == passed {
			n++
		}
	}
	return fmt.Sprintf("passed in %d of %d rounds", n, len(rs))
}
