package bodies

import (
	"io"
	"testing"
)

// TestBody checks that a body is taken without a copy, and is read as any other.
func TestBody(t *testing.T) {
	text := []byte("an answer")
	if got := New(text).Take(); &got[0] != &text[0] || len(got) != len(text) {
		t.Errorf("%q is a copy", got)
	}
	b := New(text)
	if got, err := io.ReadAll(b); err != nil || string(got) != string(text) {
		t.Errorf("%q, %v", got, err)
	}
	b = New(text)
	b.Take()
	if got, err := io.ReadAll(b); err != nil || len(got) > 0 {
		t.Errorf("%q is read after the body was taken, %v", got, err)
	}
}

// TestRoom checks that the memory of freed bodies has the asked length, whatever was freed before.
func TestRoom(t *testing.T) {
	for _, n := range []int{0, 1, 100, 10, largest, 5000, largest + 1, 3} {
		b := Room(n)
		if len(b) != n {
			t.Fatalf("%d bytes, want %d", len(b), n)
		}
		Free(b)
	}
}
