package delta

import (
	"bytes"
	"slices"
	"strings"
)

const (
	// minSibling and maxSibling bound the texts for which a base is searched, in bytes: smaller ones save little, and
	// larger ones are few and cost much time.
	minSibling, maxSibling = 256, 64 << 10
	// maxBases bounds the bases of one group, and maxHeld the texts of all, in bytes.
	maxBases, maxHeld = 4, 32 << 20
	// A delta of at most one part of good in the text's length ends the search; one of more than one part of fair is
	// not used.
	good, fair = 8, 4
)

// Siblings finds bases for texts that have no predecessor: most objects are one of many that were made from the same
// template. A text's siblings have keys that begin like its own. The zero Siblings is empty; B is what the caller needs
// to find a base again. One goroutine at a time may use it.
type Siblings[B any] struct {
	groups  map[string][]sibling[B]
	held    int // the length of their texts
	scratch []byte
}

type sibling[B any] struct {
	text []byte
	base B
}

// Find returns the delta of the text to the most similar base that it has for the key. Without a similar one ok is
// false, and the text, which is kept, becomes a base by the name that newBase returns.
func (s *Siblings[B]) Find(key string, text []byte, newBase func() B) (d []byte, base B, ok bool) {
	if len(text) < minSibling || len(text) > maxSibling {
		return nil, base, false
	}
	group := stem(key)
	bases := s.groups[group]
	best := -1
	for i, b := range bases {
		s.scratch = Append(s.scratch[:0], b.text, text)
		if best >= 0 && len(s.scratch) >= len(d) || len(s.scratch) > len(text)/fair {
			continue
		}
		best, d = i, append(d[:0], s.scratch...)
		if len(d) <= len(text)/good {
			break
		}
	}
	if best < 0 {
		s.add(group, sibling[B]{text, newBase()})
		return nil, base, false
	}
	found := bases[best]
	copy(bases[1:best+1], bases[:best])
	bases[0] = found
	return bytes.Clone(d), found.base, true
}

// add makes a base the first one of its group. If there are too many, those of other groups go.
func (s *Siblings[B]) add(group string, b sibling[B]) {
	if s.groups == nil {
		s.groups = map[string][]sibling[B]{}
	}
	bases := s.groups[group]
	if len(bases) == maxBases {
		s.held -= len(bases[maxBases-1].text)
		bases = bases[:maxBases-1]
	}
	s.groups[group] = slices.Insert(bases, 0, b)
	s.held += len(b.text)
	for other, bases := range s.groups {
		if s.held <= maxHeld {
			break
		}
		if other == group {
			continue
		}
		for _, b := range bases {
			s.held -= len(b.text)
		}
		delete(s.groups, other)
	}
}

// stem returns a key without the parts at its end, after a hyphen or a dot, that tell siblings apart: those with a digit
// or without a vowel, as Kubernetes makes names (k8s.io/apimachinery/pkg/util/rand).
func stem(key string) string {
	for {
		i := strings.LastIndexAny(key, "-./")
		if i < 0 || key[i] == '/' {
			return strings.TrimRight(key, "0123456789")
		}
		if last := key[i+1:]; !strings.ContainsAny(last, "0123456789") && strings.ContainsAny(last, "aeiou") {
			return key
		}
		key = key[:i]
	}
}
