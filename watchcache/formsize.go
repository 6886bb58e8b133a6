package watchcache

// formSize is the length of one form of an object. It stays when the bytes have
// had to make room.
type formSize struct {
	form Form
	size int
	next *formSize
}

// FormSize is the length of the object's form, in bytes. It is found by building
// the form, once; a list whose length has to be said before its items can then
// be written from one item at a time.
func (o *Object) FormSize(id Form, build func(*Object) ([]byte, error)) (int, error) {
	for {
		head := o.sizes.Load()
		for s := head; s != nil; s = s.next {
			if s.form == id {
				return s.size, nil
			}
		}
		b, err := o.Form(id, build)
		if err != nil {
			return 0, err
		}
		if o.sizes.CompareAndSwap(head, &formSize{id, len(b), head}) {
			return len(b), nil
		}
	}
}
