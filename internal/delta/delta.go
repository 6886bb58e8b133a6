// Package delta stores a text as its difference to another text. Two states of an object share most of their bytes,
// so an object's history is small if each state is stored as its difference to the next.
//
// # Format
//
// A delta is a list of numbers, unsigned varints as in encoding/binary, and bytes: the length of the text, then
// steps until the text has that length. A step begins with a number whose lowest bit selects its kind, and whose
// rest is a length n:
//
//	0   n bytes of the text follow
//	1   a varint follows: the distance from the base position to the n bytes
//	    to copy from the base
//
// The base position is 0 at first, then behind the bytes copied last, and advances with bytes that are not copied.
//
// All functions are pure and safe for any goroutine.
package delta

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
)

// ErrMalformed is returned by Apply for a delta that Append has not made from this base.
var ErrMalformed = errors.New("delta: malformed, or of another base")

const (
	// block is the number of equal bytes by which moved text is recognized.
	block = 16
	// slots bounds the number of base positions that are indexed.
	slots = 1 << 9
	// reach is how far an equal block is looked for behind bytes that were replaced by as many.
	reach = 48
)

// Append appends the delta that makes target from base. ok is false if the delta would be longer than limit bytes, as far as that can be
// told before all of target has been compared; d is incomplete then.
func Append(dst, base, target []byte, limit int) (d []byte, ok bool) {
	limit += len(dst)
	w := writer{dst: binary.AppendUvarint(dst, uint64(len(target))), target: target, limit: limit}
	head := same(base, target)
	tail := sameEnd(base[head:], target[head:])
	w.take(0, 0, head)
	w.search(base[:len(base)-tail], head, len(target)-tail)
	if w.long(len(target) - tail) {
		return w.dst, false
	}
	w.take(len(base)-tail, len(target)-tail, tail)
	w.put(len(target))
	return w.dst, len(w.dst) <= limit
}

// writer has written target up to done; the base position is at.
type writer struct {
	dst, target []byte
	done, at    int
	limit       int // of dst
}

// long reports whether dst would exceed its limit with target up to end as it is.
func (w *writer) long(end int) bool { return len(w.dst)+end-w.done > w.limit }

// put writes target up to end literally.
func (w *writer) put(end int) {
	if n := end - w.done; n > 0 {
		w.dst = binary.AppendUvarint(w.dst, uint64(n)<<1)
		w.dst = append(w.dst, w.target[w.done:end]...)
		w.done, w.at = end, w.at+n
	}
}

// take writes a copy of n bytes from base position from to target position to.
func (w *writer) take(from, to, n int) {
	if n == 0 {
		return
	}
	w.put(to)
	w.dst = binary.AppendUvarint(w.dst, uint64(n)<<1|1)
	w.dst = binary.AppendVarint(w.dst, int64(from-w.at))
	w.done, w.at = to+n, from+n
}

// search looks for blocks of base, from position from on, in target up to end, or until dst is too long.
func (w *writer) search(base []byte, from, end int) {
	if len(base)-from < block || end-from < block {
		return
	}
	var places [slots]int32 // of blocks in base, by their hash; or 0
	stride := max(block, (len(base)-from)/(slots/2))
	for p := from; p+block <= len(base); p += stride {
		places[hash(base[p:])] = int32(p + 1)
	}
	for i := from; i+block <= end && !w.long(i); {
		// Bytes have been replaced by as many, most often.
		p := w.at + i - w.done
		n, ok := skip(base, p, w.target[:end], i)
		if ok {
			p, i = p+n, i+n
		} else if p, i, ok = moved(base, &places, w.target[:end], i, n); !ok {
			continue
		}
		n = block + same(base[p+block:], w.target[i+block:end])
		back := sameEnd(base[:p], w.target[w.done:i])
		w.take(p-back, i-back, n+back)
		i = w.done
	}
}

// skip returns how many bytes behind base position p and target position i both have an equal block. If ok is false, there is none in
// the next n bytes.
func skip(base []byte, p int, target []byte, i int) (n int, ok bool) {
	last := min(len(base)-p, len(target)-i) - block
	if p < 0 || last < 0 {
		return reach, false
	}
	base, target = base[p:], target[i:]
	for n <= min(last, reach) {
		// The last byte that differs is in no equal block.
		if d := binary.LittleEndian.Uint64(base[n+8:]) ^ binary.LittleEndian.Uint64(target[n+8:]); d != 0 {
			n += 16 - bits.LeadingZeros64(d)/8
		} else if d := binary.LittleEndian.Uint64(base[n:]) ^ binary.LittleEndian.Uint64(target[n:]); d != 0 {
			n += 8 - bits.LeadingZeros64(d)/8
		} else {
			return n, true
		}
	}
	return max(n, reach), false
}

// moved looks for a block of base that target has at i or one of the next n positions. If ok is false, i is the position behind them.
func moved(base []byte, places *[slots]int32, target []byte, i, n int) (p, at int, ok bool) {
	for end := min(i+n, len(target)-block+1); i < end; i++ {
		if p := int(places[hash(target[i:])]) - 1; p >= 0 && string(base[p:p+block]) == string(target[i:i+block]) {
			return p, i, true
		}
	}
	return 0, i, false
}

func hash(b []byte) uint64 {
	_ = b[block-1]
	const odd = 0x9e3779b97f4a7c15
	h := binary.LittleEndian.Uint64(b)*odd ^ bits.RotateLeft64(binary.LittleEndian.Uint64(b[8:])*odd, 31)
	return h * odd >> (64 - 9)
}

// same returns the length of the common prefix.
func same(a, b []byte) int {
	n, i := min(len(a), len(b)), 0
	for i+128 <= n && string(a[i:i+128]) == string(b[i:i+128]) {
		i += 128
	}
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

// sameEnd returns the length of the common suffix.
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

// Size returns the length of the text that a delta makes.
func Size(delta []byte) int {
	n, _ := binary.Uvarint(delta)
	return int(n)
}

// Apply makes the text from its base. It returns ErrMalformed for an invalid delta.
func Apply(base, delta []byte) ([]byte, error) { return AppendText(nil, base, delta) }

// AppendText appends the text that Apply makes.
func AppendText(dst, base, delta []byte) ([]byte, error) {
	size, n := binary.Uvarint(delta)
	// All but literal bytes are copied from the base, and each copy takes at least two bytes.
	if n <= 0 || size > uint64(len(delta))*uint64(len(base)+1) {
		return nil, ErrMalformed
	}
	delta = delta[n:]
	text := slices.Grow(dst, int(size))
	at := 0
	for end := uint64(len(dst)) + size; uint64(len(text)) < end; {
		step, n := binary.Uvarint(delta)
		if n <= 0 {
			return nil, ErrMalformed
		}
		delta = delta[n:]
		left := end - uint64(len(text))
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
