package object

// A Field is a field that field selectors may use besides metadata.name and metadata.namespace.
type Field struct {
	Label string
	// Paths are the places in the JSON where the value may stand. The first one that holds a
	// string, number or boolean counts.
	Paths [][]string
	// Zero is the value of objects in which no path holds one.
	Zero string
}

// A path is a node in the tree of the JSON paths at which a cache's attributes stand.
type path struct {
	name     string
	children []*path
	// fields end here: their value is the scalar at this place.
	fields      []fieldPath
	uid, labels bool
}

// A fieldPath is one of the places at which a field's value may stand. The present one of the
// lowest rank, from 1, counts.
type fieldPath struct {
	field int
	rank  uint8
}

func (p *path) child(name string) *path {
	for _, k := range p.children {
		if k.name == name {
			return k
		}
	}
	return nil
}

func (p *path) add(names []string) *path {
	for _, name := range names {
		k := p.child(name)
		if k == nil {
			k = &path{name: name}
			p.children = append(p.children, k)
		}
		p = k
	}
	return p
}

// newPaths returns the tree for a resource with these fields.
func newPaths(fs []Field) *path {
	root := &path{}
	root.add([]string{"metadata", "uid"}).uid = true
	root.add([]string{"metadata", "labels"}).labels = true
	for i, f := range fs {
		for rank, names := range f.Paths {
			p := root.add(names)
			p.fields = append(p.fields, fieldPath{i, uint8(rank + 1)})
		}
	}
	return root
}
