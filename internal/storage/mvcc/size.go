package mvcc

// A Size counts existing keys, and the bytes of the keys and their values.
type Size struct{ Keys, Bytes int64 }

// Replace replaces prev by next in the count; either may be nil.
func (s *Size) Replace(prev, next *Version) {
	s.add(prev, -1)
	s.add(next, 1)
}

func (s *Size) add(v *Version, sign int64) {
	if v == nil || v.Deleted {
		return
	}
	s.Keys += sign
	s.Bytes += sign * int64(len(v.KV().Key)+v.ValueSize())
}
