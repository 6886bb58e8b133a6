// Package delta keeps one text as its difference to another. Two states of one
// object are mostly the same bytes, so the history of an object is small once each
// state is kept as what tells it from the next.
//
// # Format
//
// A delta is a list of numbers, unsigned varints as in encoding/binary, and bytes:
// the length of the text, then steps until the text has that length. A step begins
// with a number whose lowest bit says what it is, and whose rest is a length n:
//
//	0   n bytes follow, which are the text's
//	1   a varint follows: how far after the place where the base stands now n bytes
//	    of the base are taken from
//
// The base stands at 0 first, after what was taken when something was, and moves
// along with bytes that are not taken.
//
// Everything here is a pure function, safe for any goroutine.
package delta

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// ErrMalformed is Apply's error for what Append has not made of this base.
var ErrMalformed = errors.New("delta: malformed, or of another base")

const (
	// block is how many bytes have to be alike to be found in another place.
	block = 16
	// slots bounds the places of the base that are looked for.
	slots = 1 << 9
)

// Append appends the delta that makes target of base. It may be longer than
// target, by a few bytes, where the two have nothing in common.
func Append(dst, base, target []byte) []byte {
	w := writer{dst: binary.AppendUvarint(dst, uint64(len(target))), target: target}
	head := same(base, target)
	tail := sameEnd(base[head:], target[head:])
	w.take(0, 0, head)
	w.search(base[:len(base)-tail], head, len(target)-tail)
	w.take(len(base)-tail, len(target)-tail, tail)
	w.put(len(target))
	return w.dst
}

// writer has written target up to done; the base stands at at.
type writer struct {
	dst, target []byte
	done, at    int
}

// put writes target up to end as it is.
func (w *writer) put(end int) {
	if n := end - w.done; n > 0 {
		w.dst = binary.AppendUvarint(w.dst, uint64(n)<<1)
		w.dst = append(w.dst, w.target[w.done:end]...)
		w.done, w.at = end, w.at+n
	}
}

// take writes that n bytes of target at to stand in the base at from.
func (w *writer) take(from, to, n int) {
	if n == 0 {
		return
	}
	w.put(to)
	w.dst = binary.AppendUvarint(w.dst, uint64(n)<<1|1)
	w.dst = binary.AppendVarint(w.dst, int64(from-w.at))
	w.done, w.at = to+n, from+n
}

// search looks for blocks of base, from from on, in target up to end.
func (w *writer) search(base []byte, from, end int) {
	if len(base)-from < block || end-from < block {
		return
	}
	var places [slots]int32 // of blocks in base, by their hash; 0 for none
	stride := max(block, (len(base)-from)/(slots/2))
	for p := from; p+block <= len(base); p += stride {
		places[hash(base[p:])] = int32(p + 1)
	}
	for i := from; i+block <= end; {
		p := int(places[hash(w.target[i:])]) - 1
		if p < 0 || string(base[p:p+block]) != string(w.target[i:i+block]) {
			i++
			continue
		}
		n := block + same(base[p+block:], w.target[i+block:end])
		back := sameEnd(base[:p], w.target[w.done:i])
		w.take(p-back, i-back, n+back)
		i = w.done
	}
}

func hash(b []byte) uint64 {
	_ = b[block-1]
	const odd = 0x9e3779b97f4a7c15
	h := binary.LittleEndian.Uint64(b)*odd ^ bits.RotateLeft64(binary.LittleEndian.Uint64(b[8:])*odd, 31)
	return h * odd >> (64 - 9)
}

// same is the length of what both begin with.
func same(a, b []byte) int {
	n, i := min(len(a), len(b)), 0
	for ; i+8 <= n; i += 8 {
		if d := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); d != 0 {
			return i + bits.TrailingZeros64(d)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// sameEnd is the length of what both end with.
func sameEnd(a, b []byte) int {
	n, i := min(len(a), len(b)), 0
	for ; i+8 <= n; i += 8 {
		d := binary.LittleEndian.Uint64(a[len(a)-i-8:]) ^ binary.LittleEndian.Uint64(b[len(b)-i-8:])
		if d != 0 {
			return i + bits.LeadingZeros64(d)/8
		}
	}
	for i < n && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	return i
}

// Size is the length of the text that a delta makes.
func Size(delta []byte) int {
	n, _ := binary.Uvarint(delta)
	return int(n)
}

// Apply makes the text of its base. Errors: ErrMalformed.
func Apply(base, delta []byte) ([]byte, error) {
	size, n := binary.Uvarint(delta)
	// What is not there is taken from the base, at two bytes or more for a step.
	if n <= 0 || size > uint64(len(delta))*uint64(len(base)+1) {
		return nil, ErrMalformed
	}
	delta = delta[n:]
	text := make([]byte, 0, size)
	at := 0
	for uint64(len(text)) < size {
		step, n := binary.Uvarint(delta)
		if n <= 0 {
			return nil, ErrMalformed
		}
		delta = delta[n:]
		left := size - uint64(len(text))
		long := step >> 1
		if long == 0 || long > left {
			return nil, ErrMalformed
		}
		if step&1 == 0 {
			if long > uint64(len(delta)) {
				return nil, ErrMalformed
			}
			text, delta, at = append(text, delta[:long]...), delta[long:], at+int(long)
			continue
		}
		off, n := binary.Varint(delta)
		from := int64(at) + off
		if n <= 0 || from < 0 || from > int64(len(base)) || long > uint64(int64(len(base))-from) {
			return nil, ErrMalformed
		}
		delta, at = delta[n:], int(from)+int(long)
		text = append(text, base[from:at]...)
	}
	if len(delta) > 0 {
		return nil, ErrMalformed
	}
	return text, nil
}
