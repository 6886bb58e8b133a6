package local

import (
	"slices"
	"sort"

	"fairlead.dev/storage"
)

// segmentSize is how many events a segment of the log holds.
const segmentSize = 512

type segment [segmentSize]*version

// A view is the published log: the events with the sequence numbers [first, end) in revision order;
// base is the number of the first slot of segs[0]. Sequence numbers count events, from 0 at Open;
// they are never reused.
//
// A view is immutable: append writes only beyond end, to slots that no view shows yet.
type view struct {
	segs             []*segment
	base, first, end int64
}

func (l view) at(seq int64) *version {
	i := seq - l.base
	return l.segs[i/segmentSize][i%segmentSize]
}

// append returns a view with vs at its end. Only the newest view may be appended to.
func (l view) append(vs []*version) view {
	for _, v := range vs {
		i := l.end - l.base
		if int(i/segmentSize) == len(l.segs) {
			l.segs = append(l.segs, new(segment))
		}
		l.segs[i/segmentSize][i%segmentSize] = v
		l.end++
	}
	return l
}

// after returns the sequence number of the first event above a revision.
func (l view) after(r storage.Revision) int64 {
	n := sort.Search(int(l.end-l.first), func(i int) bool {
		return l.at(l.first+int64(i)).kv().ModRevision > r
	})
	return l.first + int64(n)
}

// trim drops the events below seq. Older views stay as they are: a segment that is kept in part is
// copied.
func (l view) trim(seq int64) view {
	if seq == l.first {
		return l
	}
	n := (seq - l.base) / segmentSize
	l.segs = slices.Clone(l.segs[n:])
	l.base += n * segmentSize
	if l.first = seq; seq > l.base {
		part := *l.segs[0]
		clear(part[:seq-l.base])
		l.segs[0] = &part
	}
	return l
}
