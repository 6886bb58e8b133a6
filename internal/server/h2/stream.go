package h2

import "time"

// stream is a request and its response. Its fields are guarded by conn.mu unless a comment says otherwise. The
// handler's state is in its exchange, so that a stream that has been handed over is small.
type stream struct {
	c  *conn
	id uint32

	// remoteEnded: the client's side has ended; localEnded: ours has. closed: the stream is out of conn.streams,
	// because both sides have ended or because of err.
	remoteEnded, localEnded, closed bool
	err                             error

	in         *list // the list that it is in, or nil
	prev, next *stream

	// window is the send window; granted is the part lent to the source.
	window, granted int64
	// sent is how much data has been put into frames; it is the role's while that asks the source.
	sent int64

	// x is the handler's side, nil once the handler has returned.
	x *exchange

	// src continues the response once the handler has returned. busy: the role is asking it. rung: its bell rang
	// meanwhile, or while the handler was running.
	src        Source
	busy, rung bool
	// leftEpoch is the connection's epoch when the handler returned: its frames were still in out.
	leftEpoch uint64
	// leftover is data that src produced beyond its credit. last: src will produce no more. aborted: the response is
	// to be cut off. They belong to the role.
	leftover      *leftover
	last, aborted bool
	// stalledSince is the time since when src has data that the windows do not allow.
	stalledSince time.Time
}

// sends counts n bytes of data, and reports whether the stream has sent more than a record.
func (st *stream) sends(n int) (long bool) {
	st.sent += int64(n)
	return st.sent > record
}

// list is a linked list of streams. A stream is in at most one list.
type list struct{ first, last *stream }

func (l *list) push(st *stream) {
	st.in, st.prev, st.next = l, l.last, nil
	if l.last != nil {
		l.last.next = st
	} else {
		l.first = st
	}
	l.last = st
}

func (l *list) pop() *stream {
	st := l.first
	if st != nil {
		st.unlink()
	}
	return st
}

// unpop puts a popped stream back at the front.
func (l *list) unpop(st *stream) {
	st.in, st.prev, st.next = l, nil, l.first
	if l.first != nil {
		l.first.prev = st
	} else {
		l.last = st
	}
	l.first = st
}

// unlink removes the stream from its list, if it is in one.
func (st *stream) unlink() {
	l := st.in
	if l == nil {
		return
	}
	if st.prev != nil {
		st.prev.next = st.next
	} else {
		l.first = st.next
	}
	if st.next != nil {
		st.next.prev = st.prev
	} else {
		l.last = st.prev
	}
	st.in, st.prev, st.next = nil, nil, nil
}

// endRemote marks the client's side of the stream as ended.
func (st *stream) endRemote() {
	st.remoteEnded = true
	st.x.body.finish()
}
