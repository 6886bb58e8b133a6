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
	// maxBorrowed bounds Siblings.borrowed.
	maxBorrowed = 4 << 10
	// A delta of at most one part of good in the text's length ends the search; one of more than one part of fair is
	// not used.
	good, fair = 8, 4
)

// Siblings finds bases for texts that have no predecessor: most objects are one of many that were made from the same
// template. A text is tried with texts of the same owner first, whose keys differ in their last part only, and then with
// those of its family, whose keys begin alike. When the deltas of an owner to bases of its family have taken as many bytes
// as a base takes, Find reports no base, so that the owner gets one of its own. The zero Siblings is empty; B is what the
// caller needs to find a base again. One goroutine at a time may use it.
type Siblings[B any] struct {
	groups  map[string][]sibling[B] // by owner, and by family
	held    int                     // the length of their texts
	scratch []byte
	// borrowed has the bytes of the deltas of owners without a base of their own.
	borrowed map[string]int
}

type sibling[B any] struct {
	text []byte
	base B
}

// Find returns the delta of the text to the most similar base that it has for the key. If ok is false, the text may become a
// base itself, see Add.
func (s *Siblings[B]) Find(key string, text []byte) (d []byte, base B, ok bool) {
	if len(text) < minSibling || len(text) > maxSibling {
		return nil, base, false
	}
	owner, family := groupsOf(key)
	d, base, ok = s.find(owner, text)
	if !ok && owner != family {
		d, base, ok = s.find(family, text)
		ok = ok && !s.borrow(owner, len(d), len(text))
	}
	if !ok {
		return nil, base, false
	}
	return bytes.Clone(d), base, true
}

// Add makes the text of a key a base, which keeps the text.
func (s *Siblings[B]) Add(key string, text []byte, base B) {
	if len(text) < minSibling || len(text) > maxSibling {
		return
	}
	owner, family := groupsOf(key)
	b := sibling[B]{text, base}
	s.add(owner, b)
	if owner != family && len(s.groups[family]) < maxBases {
		s.add(family, b)
	}
}

// borrow counts a delta to a base of the family, and reports whether the owner gets a base of its own.
func (s *Siblings[B]) borrow(owner string, size, text int) bool {
	if s.borrowed == nil || len(s.borrowed) == maxBorrowed {
		s.borrowed = map[string]int{}
	}
	s.borrowed[owner] += size
	if s.borrowed[owner] < text {
		return false
	}
	delete(s.borrowed, owner)
	return true
}

// find returns the delta, which is valid until the next call, to the most similar base of a group.
func (s *Siblings[B]) find(group string, text []byte) (d []byte, base B, ok bool) {
	bases := s.groups[group]
	best := -1
	limit := len(text) / fair
	for i, b := range bases {
		if s.scratch, ok = Append(s.scratch[:0], b.text, text, limit); !ok {
			continue
		}
		best, limit = i, len(s.scratch)-1
		if len(s.scratch) <= len(text)/good {
			d = s.scratch
			break
		}
		d = append(d[:0], s.scratch...)
	}
	if best < 0 {
		return nil, base, false
	}
	found := bases[best]
	copy(bases[1:best+1], bases[:best])
	bases[0] = found
	return d, found.base, true
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

// groupsOf returns the groups of a key. The owner's is the key without the part at its end, after a hyphen or a dot, that
// tells siblings apart: one with a digit or without a vowel, as Kubernetes makes names
// (k8s.io/apimachinery/pkg/util/rand). The family's is without all such parts.
func groupsOf(key string) (owner, family string) {
	family = key
	for {
		i := strings.LastIndexAny(family, "-./")
		if i < 0 || family[i] == '/' {
			family = strings.TrimRight(family, "0123456789")
			break
		}
		if last := family[i+1:]; !strings.ContainsAny(last, "0123456789") && strings.ContainsAny(last, "aeiou") {
			break
		}
		family = family[:i]
		if owner == "" {
			owner = family
		}
	}
	if owner == "" {
		owner = family
	}
	return owner, family
}
