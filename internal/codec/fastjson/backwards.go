package fastjson

import "math/bits"

// message writes an object whose slots begin at base.
func (x *transcoder) message(m *message, base int) {
	for i := len(m.fields) - 1; i >= 0; i-- {
		f := &m.fields[i]
		if f.inline != nil {
			end := len(x.out) - x.at
			x.message(f.inline, base+f.slot)
			x.size(end)
			put(x, f.tag)
			continue
		}
		at := x.slots[base+f.slot]
		switch {
		case at == 0:
			put(x, f.zero)
			continue
		case f.protoType.kind == protoMap:
			x.mapping(f, x.nodes[at].number)
			continue
		}
		for ; at != 0; at = x.nodes[at].prev {
			x.value(&f.protoType, &x.nodes[at])
			put(x, f.tag)
		}
	}
}

// mapping writes the entries of a map, each a message of its key and its value.
func (x *transcoder) mapping(f *protoField, last int64) {
	for at := int32(last); at != 0; at = x.nodes[at].prev {
		end := len(x.out) - x.at
		n := &x.nodes[at]
		x.value(f.protoType.elem, &x.nodes[n.number])
		if f.protoType.elem.kind == protoInt || f.protoType.elem.kind == protoBool {
			put(x, "\x10")
		} else {
			put(x, "\x12")
		}
		x.delimited(x.text(n))
		put(x, "\x0a")
		x.size(end)
		put(x, f.tag)
	}
}

// value writes a value, with its length before it if its wire type has one.
func (x *transcoder) value(s *protoType, n *node) {
	end := len(x.out) - x.at
	switch s.kind {
	case protoText, protoBytes:
		x.delimited(x.text(n))
		return
	case protoInt, protoBool:
		x.varint(uint64(n.number))
		return
	case protoMessage:
		x.message(s.msg, int(n.number))
	case protoTime:
		put(x, "\x10\x00")
		x.varint(uint64(n.number))
		put(x, "\x08")
	case protoMicroTime:
		x.varint(uint64(n.from))
		put(x, "\x10")
		x.varint(uint64(n.number))
		put(x, "\x08")
	case protoQuantity, protoRaw:
		x.delimited(x.text(n))
		put(x, "\x0a")
	case protoIntText:
		x.intOrText(n)
	case protoTexts:
		for at := int32(n.number); at != 0; at = x.nodes[at].prev {
			x.delimited(x.text(&x.nodes[at]))
			put(x, "\x0a")
		}
	}
	x.size(end)
}

func (x *transcoder) intOrText(n *node) {
	if n.from < 0 {
		put(x, "\x1a\x00")
		x.varint(uint64(n.number))
		put(x, "\x08\x00\x10")
		return
	}
	x.delimited(x.text(n))
	put(x, "\x08\x01\x10\x00\x1a")
}

// delimited writes bytes with their length before them.
func (x *transcoder) delimited(b []byte) {
	put(x, b)
	x.varint(uint64(len(b)))
}

// size writes the number of bytes written since the output had end bytes.
func (x *transcoder) size(end int) { x.varint(uint64(len(x.out) - x.at - end)) }

func (x *transcoder) varint(v uint64) {
	if v < 0x80 && x.at > 0 {
		x.at--
		x.out[x.at] = byte(v)
		return
	}
	n := (bits.Len64(v|1) + 6) / 7
	x.reserve(n)
	x.at -= n
	for i := range n - 1 {
		x.out[x.at+i] = byte(v) | 0x80
		v >>= 7
	}
	x.out[x.at+n-1] = byte(v)
}

func put[T string | []byte](x *transcoder, b T) {
	x.reserve(len(b))
	x.at -= len(b)
	copy(x.out[x.at:], b)
}

// reserve makes room for n more bytes.
func (x *transcoder) reserve(n int) {
	if x.at >= n {
		return
	}
	wider := make([]byte, 2*len(x.out)+n+1024)
	at := len(wider) - (len(x.out) - x.at)
	copy(wider[at:], x.out[x.at:])
	x.out, x.at = wider, at
}
