package object

// An encodedSize is the length of one encoding of an object. It stays when the bytes are dropped.
type encodedSize struct {
	encoding Encoding
	size     int
	next     *encodedSize
}

// EncodedSize returns the length of the object's encoding in bytes. It builds the encoding once; a
// list whose length precedes its items can then be written one item at a time.
func (o *Object) EncodedSize(id Encoding, build func(*Object) ([]byte, error)) (int, error) {
	for {
		head := o.sizes.Load()
		for s := head; s != nil; s = s.next {
			if s.encoding == id {
				return s.size, nil
			}
		}
		b, err := o.Encoding(id, build)
		if err != nil {
			return 0, err
		}
		if o.sizes.CompareAndSwap(head, &encodedSize{id, len(b), head}) {
			return len(b), nil
		}
	}
}
