package leaderelection

import (
	"cmp"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	"k8s.io/apimachinery/pkg/util/version"
)

// pending reports whether a candidate has not answered its last ping.
func pending(c *coordinationv1beta1.LeaseCandidate) bool {
	return c.Spec.PingTime != nil && (c.Spec.RenewTime == nil || c.Spec.RenewTime.Before(c.Spec.PingTime))
}

// heardOf reports whether a candidate has renewed itself so lately that it counts as an answer.
func heardOf(c *coordinationv1beta1.LeaseCandidate, now time.Time) bool {
	return c.Spec.RenewTime != nil && c.Spec.RenewTime.Add(electionTime).After(now)
}

// strategyOf returns the strategy of the candidates with the newest binary version, who have to agree.
func strategyOf(candidates []*coordinationv1beta1.LeaseCandidate) (coordinationv1.CoordinatedLeaseStrategy, error) {
	newest := candidates[0]
	for _, c := range candidates[1:] {
		switch order := compare(c.Spec.BinaryVersion, newest.Spec.BinaryVersion); {
		case order > 0:
			newest = c
		case order == 0 && c.Spec.Strategy != newest.Spec.Strategy:
			return "", fmt.Errorf("the candidates %s and %s have the same version and the strategies %s and %s", newest.Name, c.Name, newest.Spec.Strategy, c.Spec.Strategy)
		}
	}
	return newest.Spec.Strategy, nil
}

// oldest returns the name of the candidate with the oldest emulation version; "" if all have malformed versions.
func oldest(candidates []*coordinationv1beta1.LeaseCandidate) string {
	var first *coordinationv1beta1.LeaseCandidate
	for _, c := range candidates {
		_, emulated := parse(c.Spec.EmulationVersion)
		_, binary := parse(c.Spec.BinaryVersion)
		if emulated && binary && (first == nil || precedes(c, first)) {
			first = c
		}
	}
	if first == nil {
		return ""
	}
	return first.Name
}

// precedes reports whether a is elected rather than b.
func precedes(a, b *coordinationv1beta1.LeaseCandidate) bool {
	return cmp.Or(
		compare(a.Spec.EmulationVersion, b.Spec.EmulationVersion),
		compare(a.Spec.BinaryVersion, b.Spec.BinaryVersion),
		a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
		cmp.Compare(a.Name, b.Name),
	) < 0
}

// compare compares two semantic versions. One that is malformed precedes all others.
func compare(a, b string) int {
	x, _ := parse(a)
	y, _ := parse(b)
	switch {
	case x.LessThan(y):
		return -1
	case y.LessThan(x):
		return 1
	}
	return 0
}

var noVersion = version.MustParseSemantic("0.0.0")

func parse(text string) (v *version.Version, ok bool) {
	v, err := version.ParseSemantic(text)
	if err != nil {
		return noVersion, false
	}
	return v, true
}
