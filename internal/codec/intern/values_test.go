package intern_test

import (
	"fmt"
	"testing"

	"fairlead.dev/internal/codec/intern"
	"fairlead.dev/internal/rawmem"
)

// ask looks up b as a decoder does, and keeps a new value if it is missing.
func ask(v *intern.Values, field int, b []byte) (at rawmem.Pointer, found bool) {
	if !v.Try(field) {
		return rawmem.Pointer{}, false
	}
	if known, n := v.Next(field, b); n > 0 {
		return known.At, true
	}
	known, place, found := v.Find(field, b)
	if !found {
		known.At = rawmem.To(new(int))
		place.Keep(b, known)
	}
	return known.At, found
}

// TestValues checks that a value is found by its field and its bytes, with other values in between.
func TestValues(t *testing.T) {
	v := new(intern.Values)
	first := map[string]rawmem.Pointer{}
	for round := range 100 {
		for field := 1; field <= 3; field++ {
			for n := range 5 {
				text := fmt.Sprintf("{%d}", n)
				at, found := ask(v, field, []byte(text))
				k := fmt.Sprint(field, text)
				if known, ok := first[k]; ok && found && known != at {
					t.Fatalf("round %d: %s is another value than before", round, k)
				}
				if found && first[k].IsNil() {
					t.Fatalf("round %d: %s was found before it was kept", round, k)
				}
				if !found && !at.IsNil() {
					first[k] = at
				}
			}
		}
	}
	found := 0
	for field := 1; field <= 3; field++ {
		if _, ok := ask(v, field, []byte("{4}")); ok {
			found++
		}
	}
	if found == 0 {
		t.Error("nothing is found")
	}
}

// TestHabit checks that a field whose values never repeat is rarely looked up, and is found again when they do.
func TestHabit(t *testing.T) {
	v := new(intern.Values)
	tried := 0
	for n := range 10_000 {
		if at, found := ask(v, 1, fmt.Appendf(nil, "{%d}", n)); found {
			t.Fatal("found what was never kept")
		} else if !at.IsNil() {
			tried++
		}
	}
	if tried > 800 {
		t.Errorf("%d of 10000 looked up", tried)
	}
	found := 0
	for range 100_000 {
		if _, ok := ask(v, 1, []byte("{}")); ok {
			found++
		}
	}
	if found < 97_000 {
		t.Errorf("%d of 100000 found", found)
	}
}

// TestLong checks that long values are not kept, and that a nil Values stays empty.
func TestLong(t *testing.T) {
	v := new(intern.Values)
	long := make([]byte, intern.MaxLen+1)
	for range 3 {
		if _, found := ask(v, 1, long); found {
			t.Fatal("kept a long value")
		}
		if _, found := ask(nil, 1, []byte("{}")); found {
			t.Fatal("nil has found something")
		}
	}
}

// TestTexts checks that a recent text is the same string.
func TestTexts(t *testing.T) {
	var s intern.Texts
	a, b := s.Share([]byte("app.kubernetes.io/name")), s.Share([]byte("app.kubernetes.io/name"))
	if a != "app.kubernetes.io/name" || &rawmem.Bytes(a)[0] != &rawmem.Bytes(b)[0] {
		t.Errorf("%q and %q are two", a, b)
	}
	if s.Share(nil) != "" {
		t.Error("nothing is not the empty string")
	}
	if long := string(make([]byte, 1000)); s.Share([]byte(long)) != long {
		t.Error("a long text is another")
	}
}
