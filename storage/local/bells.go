package local

import (
	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/mvcc"
)

// A topic holds the positions of all cursors on one span.
type topic struct {
	span    mvcc.Span
	cursors []*position
}

// bells finds the cursors that a group of events concerns. Single keys, of which there may be very
// many, are found by hash, at a cost independent of their number. There are few distinct ranges,
// however many cursors share them; they are tried one after the other. (Should there ever be many
// distinct ranges, an interval tree belongs here, without other changes.)
type bells struct {
	points map[string]*topic
	ranges []*topic
	// wanting are cursors that wait for a revision, which may change any key. They are rung for
	// every revision up to it.
	wanting map[*position]storage.Revision
}

func (b *bells) want(c *position, r storage.Revision) {
	if b.wanting == nil {
		b.wanting = map[*position]storage.Revision{}
	}
	b.wanting[c] = max(r, b.wanting[c])
}

// ringWaiting rings the cursors that wait, and drops those whose revision is at most r.
func (b *bells) ringWaiting(r storage.Revision) {
	for c, wanted := range b.wanting {
		if c.ring(); wanted <= r {
			delete(b.wanting, c)
		}
	}
}

func (b *bells) add(c *position) {
	t := b.find(c.span)
	if t == nil {
		t = &topic{span: c.span}
		if c.span.End == "" {
			if b.points == nil {
				b.points = map[string]*topic{}
			}
			b.points[c.span.Start] = t
		} else {
			b.ranges = append(b.ranges, t)
		}
	}
	c.place = len(t.cursors)
	t.cursors = append(t.cursors, c)
}

func (b *bells) remove(c *position) {
	delete(b.wanting, c)
	t := b.find(c.span)
	if t == nil || c.place >= len(t.cursors) || t.cursors[c.place] != c {
		return
	}
	last := len(t.cursors) - 1
	t.cursors[c.place] = t.cursors[last]
	t.cursors[c.place].place = c.place
	t.cursors[last] = nil
	t.cursors = t.cursors[:last]
	if last > 0 {
		return
	}
	if t.span.End == "" {
		delete(b.points, t.span.Start)
		return
	}
	for i, r := range b.ranges {
		if r == t {
			b.ranges = append(b.ranges[:i], b.ranges[i+1:]...)
			return
		}
	}
}

func (b *bells) find(s mvcc.Span) *topic {
	if s.End == "" {
		return b.points[s.Start]
	}
	for _, t := range b.ranges {
		if t.span == s {
			return t
		}
	}
	return nil
}

// mark marks vs as unread in every cursor concerned, before they are published; seq is the sequence
// number of the first. It returns the topics to ring after publishing.
func (b *bells) mark(seq int64, vs []*mvcc.Version, rung []*topic) []*topic {
	if len(b.points) > 0 {
		for i, v := range vs {
			if t := b.points[v.KV().Key]; t != nil {
				t.mark(seq+int64(i), seq+int64(i))
				rung = append(rung, t)
			}
		}
	}
	for _, t := range b.ranges {
		first, last := 0, len(vs)-1
		for first <= last && !t.span.Has(vs[first].KV().Key) {
			first++
		}
		if first > last {
			continue
		}
		for !t.span.Has(vs[last].KV().Key) {
			last--
		}
		t.mark(seq+int64(first), seq+int64(last))
		rung = append(rung, t)
	}
	return rung
}

func (t *topic) mark(first, last int64) {
	for _, c := range t.cursors {
		c.mark(first, last)
	}
}

func (t *topic) ring() {
	for _, c := range t.cursors {
		c.ring()
	}
}

// ringAll rings every bell.
func (b *bells) ringAll() {
	for _, t := range b.points {
		t.ring()
	}
	for _, t := range b.ranges {
		t.ring()
	}
}

// count returns the number of cursors.
func (b *bells) count() int {
	n := 0
	for _, t := range b.points {
		n += len(t.cursors)
	}
	for _, t := range b.ranges {
		n += len(t.cursors)
	}
	return n
}
