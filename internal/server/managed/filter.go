package managed

// Filter takes fields out of what a write is seen to change, since the write
// cannot set them: what a resource's own path does to the status, for example.
// The zero Filter lets everything through.
type Filter struct {
	// Without are paths of fields below which nothing is seen.
	Without [][]string
	// Only is, unless empty, the one field that is seen.
	Only []string
}

// drops says that a top-level field is not seen, so that it need not be
// compared.
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

// cut removes the path and all below it.
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
