package cache

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

type pair struct{ key, value string }

// A selectorIndex finds, among many rules with label selectors, those that may select a given
// object, without trying each. A rule is filed under one key and value that its selector requires.
// Rules without such a requirement (only "exists", "not in") are always candidates.
//
// For example, with the rules
//
//	r1  app=web, tier in (a, b)
//	r2  app in (web, db)
//	r3  app exists
//
// the index is
//
//	app=web: r1 r2    app=db: r2    rest: r3
//
// and an object with the labels app=db, tier=a meets r2 and r3 only. Each rule is filed under
// the first such key of its selector; tier is not looked at.
type selectorIndex[T comparable] struct {
	byPair map[pair]map[T]struct{}
	rest   map[T]struct{}
}

func (x *selectorIndex[T]) add(rule T, s labels.Selector) {
	if x.byPair == nil {
		x.byPair, x.rest = map[pair]map[T]struct{}{}, map[T]struct{}{}
	}
	pairs := requiredPairs(s)
	if pairs == nil {
		x.rest[rule] = struct{}{}
	}
	for _, p := range pairs {
		if x.byPair[p] == nil {
			x.byPair[p] = map[T]struct{}{}
		}
		x.byPair[p][rule] = struct{}{}
	}
}

func (x *selectorIndex[T]) remove(rule T, s labels.Selector) {
	delete(x.rest, rule)
	for _, p := range requiredPairs(s) {
		if delete(x.byPair[p], rule); len(x.byPair[p]) == 0 {
			delete(x.byPair, p)
		}
	}
}

// each calls f once with every rule that may select an object with these labels.
func (x *selectorIndex[T]) each(objectLabels map[string]string, f func(T)) {
	for rule := range x.rest {
		f(rule)
	}
	if len(x.byPair) == 0 {
		return
	}
	for k, v := range objectLabels {
		for rule := range x.byPair[pair{k, v}] {
			f(rule)
		}
	}
}

// requiredPairs returns the pairs of which a selected object must have one, all under one key, so
// that an object meets a rule at most once; nil if the selector has no such key.
func requiredPairs(s labels.Selector) []pair {
	reqs, selectable := s.Requirements()
	if !selectable {
		return []pair{} // matches no object: filed nowhere
	}
	for _, r := range reqs {
		switch r.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
			pairs := make([]pair, 0, 1)
			for v := range r.Values() {
				pairs = append(pairs, pair{r.Key(), v})
			}
			return pairs
		}
	}
	return nil
}
