package mvcc

import "fairlead.dev/storage"

// A Span is a range of keys: [Start, End), or the one key Start if End is empty.
type Span struct{ Start, End string }

// Has reports whether key is in s.
func (s Span) Has(key string) bool {
	if s.End == "" {
		return key == s.Start
	}
	return s.Start <= key && !s.Below(key)
}

// Below reports whether s, which has an end, ends before key.
func (s Span) Below(key string) bool { return s.End != storage.NoEnd && key >= s.End }
