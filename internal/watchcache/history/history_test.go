package history_test

import (
	"fmt"
	"strings"
	"testing"

	"fairlead.dev/internal/watchcache/change"
	"fairlead.dev/internal/watchcache/history"
	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/storage"
)

// write appends n changes of one object to a history that ends at a revision.
func write(t *testing.T, h *history.History, from storage.Revision, n int) (pack bool) {
	t.Helper()
	k := object.NewKind(object.Kind{Prefix: "/registry/pods/", Encodings: &object.Encodings{}})
	state := func(rev storage.Revision) *object.Object {
		o, err := object.New(&storage.KeyValue{
			Key: "/registry/pods/a", ModRevision: rev, Version: int64(rev),
			Value: fmt.Appendf(nil, `{"metadata":{"name":"a"},"spec":%q,"status":%d}`, strings.Repeat("0123456789", 400), rev),
		}, k)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	old := state(from)
	for rev := from + 1; rev <= from+storage.Revision(n); rev++ {
		next := state(rev)
		pack = h.Append(&change.Change{Revision: rev, Old: old, New: next, At: int64(rev)})
		old = next
	}
	return pack
}

func TestPackKeepsValuesAndSums(t *testing.T) {
	var h history.History
	h.Reset(1)
	if !write(t, &h, 1, 1000) {
		t.Fatal("4 MB of changes and nothing to pack")
	}
	before := h.Bytes()
	p := h.Unpacked()
	p.Pack()
	h.Expire(100, 1<<30) // the first ones leave while they are packed
	h.SetPacked(&p)
	if h.Bytes() > before/2 {
		t.Errorf("%d bytes, %d before packing", h.Bytes(), before)
	}
	sum := 0
	for _, ch := range h.View(h.First()) {
		sum += ch.Size()
		if want := fmt.Sprintf(`"status":%d}`, ch.Old.Revision()); !strings.HasSuffix(string(ch.Old.Value()), want) {
			t.Fatalf("the state of revision %d ends with %.20s", ch.Old.Revision(), ch.Old.Value()[len(ch.Old.Value())-20:])
		}
	}
	if sum != h.Bytes() {
		t.Errorf("Bytes is %d, the changes have %d", h.Bytes(), sum)
	}
}

func TestExpire(t *testing.T) {
	var h history.History
	h.Reset(10)
	write(t, &h, 10, 20)
	if h.Expire(11, 1<<30) {
		t.Error("dropped a change that is not too old")
	}
	if !h.Expire(16, 1<<30) || h.Floor() != 15 || h.Len() != 15 {
		t.Errorf("after the changes before 16 were dropped, Floor is %d and Len %d, want 15 and 15", h.Floor(), h.Len())
	}
	if got := h.View(h.After(20))[0].Revision; got != 21 {
		t.Errorf("the first change after 20 is %d", got)
	}
	size := h.Bytes()
	if !h.Expire(0, size/2) || h.Bytes() > size/2 || h.Len() == 0 {
		t.Errorf("%d bytes and %d changes, at most %d bytes asked for", h.Bytes(), h.Len(), size/2)
	}
	if h.End() != 20 || h.First() != 20-uint64(h.Len()) {
		t.Errorf("the kept changes are numbered from %d to %d", h.First(), h.End())
	}
}
