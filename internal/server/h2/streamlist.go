package h2

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
