package managed

// Filter removes fields from the changes of a write that the write cannot make: the status, for example, in a write
// to the resource itself. The zero Filter keeps every field.
type Filter struct {
	// Without lists paths whose fields are ignored, with everything below them.
	Without [][]string
	// Only, if set, is the path of the one field that counts.
	Only []string
}

// drops reports whether a top-level field is ignored, in which case it need not be compared.
func (f Filter) drops(name string) bool {
	if len(f.Only) > 0 && f.Only[0] != name {
		return true
	}
	for _, p := range f.Without {
		if len(p) == 1 && p[0] == name {
			return true
		}
	}
	return false
}

func (f Filter) apply(n *node) {
	for _, p := range f.Without {
		n.cut(p)
	}
	for _, step := range f.Only {
		n.open()
		kept := n.kids[:0]
		for _, k := range n.kids {
			if k.element == "f:"+step {
				kept = append(kept, k)
			}
		}
		if n.kids = kept; len(kept) == 0 {
			return
		}
		n = &kept[0]
	}
}

// cut removes the path and everything below it.
func (n *node) cut(path []string) {
	n.open()
	for i := range n.kids {
		k := &n.kids[i]
		if k.element != "f:"+path[0] {
			continue
		}
		if len(path) > 1 {
			k.cut(path[1:])
		}
		if len(path) == 1 || k.empty() {
			n.kids = append(n.kids[:i], n.kids[i+1:]...)
		}
		return
	}
}
