package snapshot_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"fairlead.dev/internal/storage/snapshot"
)

// FuzzRead damages a snapshot and gives it the matching checksum: reading it returns an error or a
// snapshot, and never ends the process.
func FuzzRead(f *testing.F) {
	whole, err := os.ReadFile(save(f, filled(f)))
	if err != nil {
		f.Fatal(err)
	}
	whole = whole[:len(whole)-sha256.Size]
	f.Add(uint32(0), []byte{1})
	f.Add(uint32(4096), []byte{0xff, 0xff, 0xff, 0xff})
	f.Add(uint32(8192+16), []byte{0, 0, 0, 0, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, at uint32, with []byte) {
		b := bytes.Clone(whole)
		copy(b[int(at)%len(b):], with)
		sum := sha256.Sum256(b)
		name := filepath.Join(t.TempDir(), "s.db")
		if err := os.WriteFile(name, append(b, sum[:]...), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := snapshot.Read(name, nil)
		if err != nil && !errors.Is(err, snapshot.ErrCorrupt) {
			t.Fatalf("%v", err)
		}
		if err == nil && s.Revision < 1 {
			t.Fatalf("revision %d", s.Revision)
		}
	})
}
