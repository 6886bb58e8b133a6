package mvcc

import (
	"slices"
	"sort"

	"fairlead.dev/storage"
)

// segmentSize is how many events a segment of the log holds.
const segmentSize = 512

type segment [segmentSize]*Version

// A Log is the published log: the events with the sequence numbers [First, End) in revision order;
// base is the number of the first slot of segs[0]. Sequence numbers count events, from 0 at Open;
// they are never reused.
//
// A Log is immutable: Append writes only beyond End, to slots that no log shows yet.
type Log struct {
	segs       []*segment
	base       int64
	First, End int64
}

// At returns the event with a sequence number in [First, End).
func (l Log) At(seq int64) *Version {
	i := seq - l.base
	return l.segs[i/segmentSize][i%segmentSize]
}

// Append returns a log with vs at its end. Only the newest log may be appended to.
func (l Log) Append(vs []*Version) Log {
	for _, v := range vs {
		i := l.End - l.base
		if int(i/segmentSize) == len(l.segs) {
			l.segs = append(l.segs, new(segment))
		}
		l.segs[i/segmentSize][i%segmentSize] = v
		l.End++
	}
	return l
}

// After returns the sequence number of the first event above a revision.
func (l Log) After(r storage.Revision) int64 {
	n := sort.Search(int(l.End-l.First), func(i int) bool {
		return l.At(l.First+int64(i)).KV().ModRevision > r
	})
	return l.First + int64(n)
}

// Trim drops the events below seq. Older logs stay as they are: a segment that is kept in part is
// copied.
func (l Log) Trim(seq int64) Log {
	if seq == l.First {
		return l
	}
	n := (seq - l.base) / segmentSize
	l.segs = slices.Clone(l.segs[n:])
	l.base += n * segmentSize
	if l.First = seq; seq > l.base {
		part := *l.segs[0]
		clear(part[:seq-l.base])
		l.segs[0] = &part
	}
	return l
}
