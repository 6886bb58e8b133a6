package managed

// Filter takes fields out of what a write is seen to change, since the write
// cannot set them: what a resource's own path does to the status, for example.
// Nil lets everything through.
type Filter struct {
	// Without are paths below which nothing is seen.
	Without [][]string
	// Only are, if there are any, the paths below which all is seen that is
	// seen at all. A step "*" stands for any element.
	Only [][]string
}

// drops says that a top-level field is not seen, so that it need not be
// compared.
func (f *Filter) drops(name string) bool {
	if f == nil {
		return false
	}
	for _, p := range f.Without {
		if len(p) == 1 && p[0] == name {
			return true
		}
	}
	return false
}

func (f *Filter) apply(n *node) {
	if f == nil {
		return
	}
	for _, p := range f.Without {
		n.cut(p)
	}
	if len(f.Only) > 0 {
		n.keep(f.Only)
	}
}

// cut removes the path and all below it.
func (n *node) cut(path []string) {
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

// keep removes what is on none of the paths. What leads there stays.
func (n *node) keep(paths [][]string) {
	kept := n.kids[:0]
	for _, k := range n.kids {
		var below [][]string
		on, whole := false, false
		for _, p := range paths {
			if p[0] != "*" && k.element != "f:"+p[0] {
				continue
			}
			on = true
			if len(p) == 1 {
				whole = true
			} else {
				below = append(below, p[1:])
			}
		}
		if !on {
			continue
		}
		if !whole {
			k.keep(below)
		}
		if !k.empty() {
			kept = append(kept, k)
		}
	}
	n.kids = kept
}
