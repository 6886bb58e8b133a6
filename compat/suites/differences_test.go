//go:build suites

package suites

import (
	"fmt"
	"maps"
	"slices"
)

// whole is the name of the case that fails if a program fails and none of its cases does.
const whole = "(the program)"

// difference is a case that did not pass on both pairs in all rounds.
type difference struct {
	name string
	text string
	ours bool // it passed on kube-apiserver, or was not tried there, and not on Fairlead
}

func (d difference) String() string { return fmt.Sprintf("%q %s", d.name, d.text) }

// differences returns the cases that failed somewhere or ended differently, by name. Not among them are cases that are
// skipped on both pairs, and those that a program did not come to because it ended early, which is a case of its own.
func (m measurement) differences() []difference {
	names := map[string]bool{}
	for _, rs := range m.runs {
		maps.Copy(names, rs.names())
	}
	var all []difference
	for _, name := range slices.Sorted(maps.Keys(names)) {
		own := m.runs[0].outcome(name)
		if name == whole && own == absent {
			own = passed
		}
		if len(m.runs) == 1 {
			if own == failed {
				all = append(all, difference{name, fmt.Sprintf("failed on Fairlead, %s", m.runs[0].count(name)), true})
			}
			continue
		}
		other := m.runs[1].outcome(name)
		if name == whole && other == absent {
			other = passed
		}
		switch {
		case own == other && own != failed:
		case own == absent && m.runs[0].outcome(whole) == failed, other == absent && m.runs[1].outcome(whole) == failed:
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
