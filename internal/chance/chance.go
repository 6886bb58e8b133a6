// Package chance makes numbers that look random and follow from a text, so that every process finds the same ones.
package chance

import "hash/fnv"

// Of returns the number of a text, between 0 and 1 without 1.
func Of(text string) float64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	x := h.Sum64() // FNV's low bits are poor for texts that differ in the last bytes: mix them
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return float64(x>>11) / (1 << 53)
}
