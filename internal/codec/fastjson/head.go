package fastjson

// Head identifies an object and its version.
type Head struct{ Name, Namespace, UID, ResourceVersion string }

// HeadOf reads the head of an object's JSON and ignores the rest: b must come from a correct encoder. It returns
// false if there is no head or the general decoder is needed.
func HeadOf(b []byte) (h Head, ok bool) {
	d := decoders.Get().(*decoder)
	d.b, d.i, d.depth, d.strict = b, 0, 0, false
	if d.find("metadata") {
		ok = d.head(&h)
	}
	d.b = nil
	decoders.Put(d)
	return h, ok
}

// find moves to the value of a member of the object that begins here.
func (d *decoder) find(member string) bool {
	for more := d.open('{'); more; more = d.more('}') {
		name, ok := d.name()
		if !ok {
			return false
		}
		d.space()
		if string(name) == member {
			return true
		}
		if !d.skip() {
			return false
		}
	}
	return false
}

// head reads metadata until the head is complete.
func (d *decoder) head(h *Head) bool {
	for more := d.open('{'); more; more = d.more('}') {
		name, ok := d.name()
		if !ok {
			return false
		}
		into := h.part(name)
		if into == nil {
			d.space()
			if !d.skip() {
				return false
			}
			continue
		}
		if *into, ok = d.text(); !ok {
			return false
		}
		if h.Name != "" && h.Namespace != "" && h.UID != "" && h.ResourceVersion != "" {
			return true
		}
	}
	return h.Name != "" && d.close('}')
}

func (h *Head) part(name []byte) *string {
	switch string(name) {
	case "name":
		return &h.Name
	case "namespace":
		return &h.Namespace
	case "uid":
		return &h.UID
	case "resourceVersion":
		return &h.ResourceVersion
	}
	return nil
}
