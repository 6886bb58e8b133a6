package fastjson

// Identity identifies an object and its version.
type Identity struct{ Name, Namespace, UID, ResourceVersion string }

// IdentityOf reads the identity of an object's JSON and ignores the rest: b must come from a correct encoder. It returns
// false if there is none or the general decoder is needed.
func IdentityOf(b []byte) (h Identity, ok bool) {
	d := decoders.Get().(*decoder)
	d.b, d.i, d.depth, d.strict = b, 0, 0, false
	if d.findMember("metadata") {
		ok = d.identity(&h)
	}
	d.b = nil
	decoders.Put(d)
	return h, ok
}

// findMember moves to the value of a member of the object that begins here.
func (d *decoder) findMember(member string) bool {
	for more := d.open('{'); more; more = d.more('}') {
		name, ok := d.name()
		if !ok {
			return false
		}
		d.skipSpace()
		if string(name) == member {
			return true
		}
		if !d.skip() {
			return false
		}
	}
	return false
}

// identity reads metadata until the identity is complete.
func (d *decoder) identity(h *Identity) bool {
	for more := d.open('{'); more; more = d.more('}') {
		name, ok := d.name()
		if !ok {
			return false
		}
		into := h.field(name)
		if into == nil {
			d.skipSpace()
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

func (h *Identity) field(name []byte) *string {
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
