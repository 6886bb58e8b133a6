package jsonscan

// Walker visits the members of an object one by one. After Next has returned true, Quote is the member's name with
// its quotes, From the index at which that begins, and At the index at which the value begins. Before the next call, At must be moved to the end of the
// value, by Skip or by a caller that walks through the value.
type Walker struct {
	text  []byte
	Quote []byte
	From  int
	At    int
	// Begun reports that Next has found a member.
	Begun bool
	// Broken reports that the text at At is not that of an object. Next then returns false.
	Broken bool
}

// Walk begins at the object whose opening bracket is b[i]. On any other byte the walker is broken.
func Walk(b []byte, i int) Walker {
	return Walker{text: b, At: i + 1, Broken: i >= len(b) || b[i] != '{'}
}

// Next moves to the next member. It returns false at the end of the object, with At behind it, and where the text is
// broken.
func (w *Walker) Next() bool {
	if w.Broken {
		return false
	}
	b, i := w.text, Space(w.text, w.At)
	if i < len(b) && b[i] == '}' {
		w.At = i + 1
		return false
	}
	if w.Begun {
		if i >= len(b) || b[i] != ',' {
			return w.fail()
		}
		i = Space(b, i+1)
	}
	end, at := key(b, i)
	if at < 0 {
		return w.fail()
	}
	w.Begun, w.From, w.Quote, w.At = true, i, b[i:end], at
	return true
}

// key returns the index after the quoted name that begins at b[i], and the index at which the value after its colon begins,
// or -1 if there is no name or no colon.
func key(b []byte, i int) (end, at int) {
	if i >= len(b) || b[i] != '"' {
		return 0, -1
	}
	if end = String(b, i); end < 0 {
		return 0, -1
	}
	if i = Space(b, end); i >= len(b) || b[i] != ':' {
		return 0, -1
	}
	return end, Space(b, i+1)
}

// Key returns the decoded name of the member. It shares the memory of the text if it can, so the text must not
// change as long as the name is in use.
func (w *Walker) Key() string { return shared(w.Quote) }

// Skip moves At to the end of the member's value and returns the value, nil if it does not end.
func (w *Walker) Skip() []byte {
	from, end := w.At, Value(w.text, w.At)
	if end < 0 {
		w.fail()
		return nil
	}
	w.At = end
	return w.text[from:end]
}

func (w *Walker) fail() bool {
	w.Broken = true
	return false
}

// Member is a member of an object, as written.
type Member struct {
	Quote []byte // the name with its quotes
	Value []byte
}

// Name returns the decoded name.
func (m Member) Name() string { return Unquote(m.Quote) }

// Is reports whether the member has a name, which must need no escapes.
func (m Member) Is(name string) bool { return string(m.Quote[1:len(m.Quote)-1]) == name }

// Members appends the members of an object in the order of the text, up to where it is broken, and no members of any other
// value.
func Members(list []Member, text []byte) []Member {
	i := Space(text, 0)
	if i >= len(text) || text[i] != '{' {
		return list
	}
	for i = Space(text, i+1); ; i = Space(text, i+1) {
		name, at := key(text, i)
		if at < 0 {
			return list // also the end of an empty object
		}
		end := Value(text, at)
		if end < 0 {
			return list
		}
		list = append(list, Member{Quote: text[i:name], Value: text[at:end]})
		if i = Space(text, end); i >= len(text) || text[i] != ',' {
			return list
		}
	}
}

// Find returns the value of the object's member with a name, which must need no escapes, or nil.
func Find(text []byte, name string) []byte {
	i := Space(text, 0)
	if i >= len(text) || text[i] != '{' {
		return nil
	}
	for i = Space(text, i+1); ; i = Space(text, i+1) {
		quote, at := key(text, i)
		if at < 0 {
			return nil
		}
		end := Value(text, at)
		if end < 0 {
			return nil
		}
		if string(text[i+1:quote-1]) == name {
			return text[at:end]
		}
		if i = Space(text, end); i >= len(text) || text[i] != ',' {
			return nil
		}
	}
}

// Items appends the elements of an array, up to where it is broken, and no elements of any other value.
func Items(list [][]byte, text []byte) [][]byte {
	i := Space(text, 0)
	if i >= len(text) || text[i] != '[' {
		return list
	}
	for i = Space(text, i+1); ; i = Space(text, i+1) {
		end := Value(text, i)
		if end < 0 {
			return list // also the end of an empty array
		}
		list = append(list, text[i:end])
		if i = Space(text, end); i >= len(text) || text[i] != ',' {
			return list
		}
	}
}
