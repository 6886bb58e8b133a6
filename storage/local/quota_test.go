package local_test

import (
	"errors"
	"strings"
	"testing"

	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

// A store refuses what would make its keys larger than MaxBytes, and keeps history only as far as there is room.
func TestMaxBytes(t *testing.T) {
	s, err := local.Open("", local.Options{InMemory: true, History: -1, MaxBytes: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	write := func(op storage.Op) error {
		_, err := s.Commit(t.Context(), storage.Txn{Then: []storage.Op{op}})
		return err
	}
	put := func(key string, size int) error {
		return write(storage.Op{Type: storage.Put, Key: key, Value: []byte(strings.Repeat("x", size))})
	}
	for _, key := range []string{"/a", "/b"} {
		if err := put(key, 4_000); err != nil {
			t.Fatal(err)
		}
	}
	if err := put("/c", 4_000); !errors.Is(err, storage.ErrNoSpace) {
		t.Errorf("a third key: %v", err)
	}
	if err := put("/a", 8_000); !errors.Is(err, storage.ErrNoSpace) {
		t.Errorf("a larger value: %v", err)
	}
	before := s.Compacted()
	for range 10 {
		if err := put("/a", 4_000); err != nil {
			t.Fatal(err)
		}
	}
	for s.Compacted() == before { // history of 40,000 bytes is compacted in the background
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(storage.Op{Type: storage.Delete, Key: "/b"}); err != nil {
		t.Error(err)
	}
	if err := put("/c", 4_000); err != nil {
		t.Errorf("after a delete: %v", err)
	}
	if got := s.Stats().LiveBytes; got > 10_000 {
		t.Errorf("%d bytes", got)
	}
}
