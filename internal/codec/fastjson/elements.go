package fastjson

import (
	"reflect"

	"fairlead.dev/internal/rawmem"
)

// elements is where a decoder collects the elements of slices of one type until it knows their number. Counting
// them first would mean reading their text twice, and nested arrays even more often.
type elements struct {
	rawmem.Slice               // the elements so far, zero behind them
	slice        reflect.Value // of the Slice
	busy         bool          // an element is being read
}

// slice reads an array into a slice of just its length.
func (d *decoder) slice(p *typeCodec, v rawmem.Pointer) bool {
	if !d.open('[') {
		*v.Slice() = rawmem.SliceAt(rawmem.Of(reflect.MakeSlice(p.typ, 0, 0)), 0)
		return d.close(']')
	}
	if !p.countsFirst() {
		if e := d.elementsOf(p); e != nil {
			return d.sliceByMoving(p, e, v)
		}
	}
	n, ok := d.countElements()
	if !ok {
		return false
	}
	*v.Slice() = rawmem.Slice{}
	to := v.Value(p.typ) // MakeSlice would allocate a header
	to.Grow(n)
	to.SetLen(n)
	items := v.Slice()
	for i := range n {
		if i > 0 {
			d.more(']')
		}
		if !d.value(p.elem, items.Item(i, p.elem.size)) {
			return false
		}
	}
	return d.close(']')
}

// maxRoom is how many bytes of elements a decoder retains.
const maxRoom = 8 << 10

// countsFirst reports whether counting a slice's elements beforehand is cheaper than moving them, because their text is
// short or is decoded by their own type.
func (p *typeCodec) countsFirst() bool { return p.elem.op != structure && p.elem.op != pointer }

// elementsOf returns the room for the elements of a slice type. It returns nil if an enclosing slice of that type
// is using it.
func (d *decoder) elementsOf(p *typeCodec) *elements {
	e := d.room[p]
	if e == nil {
		e = &elements{}
		e.slice = rawmem.To(&e.Slice).Value(p.typ)
		if d.room == nil {
			d.room = map[*typeCodec]*elements{}
		}
		d.room[p] = e
	}
	if e.busy {
		return nil
	}
	return e
}

// sliceByMoving reads the elements of an array, from the first one on, and moves them into the slice at v.
func (d *decoder) sliceByMoving(p *typeCodec, e *elements, v rawmem.Pointer) bool {
	e.busy = true
	ok := true
	for more := true; ok && more; more = d.more(']') {
		if e.Len == e.Cap {
			e.slice.Grow(max(2, e.Len))
		}
		e.Len++
		ok = d.value(p.elem, e.Item(e.Len-1, p.elem.size))
		if !ok {
			break
		}
	}
	if ok {
		*v.Slice() = rawmem.Slice{}
		to := v.Value(p.typ)
		to.Grow(e.Len)
		to.SetLen(e.Len)
		reflect.Copy(to, e.slice)
	}
	if uintptr(e.Cap)*p.elem.size > maxRoom {
		delete(d.room, p)
	} else {
		e.slice.Clear()
		e.Len, e.busy = 0, false
	}
	return ok && d.close(']')
}
