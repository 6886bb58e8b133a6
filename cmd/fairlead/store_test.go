package main

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestMeter: long work prints its progress a second after its start and then more and more rarely, short work does not.
func TestMeter(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	synctest.Test(t, func(t *testing.T) {
		m := newProgress(file).meter("Saving", "keys")
		for i := range int64(20) {
			m.at(i*1000, 20_000)
			time.Sleep(500 * time.Millisecond)
		}
		m = newProgress(file).meter("Reading", "revisions")
		m.at(5, 0)
		time.Sleep(2 * time.Second)
		m.at(6, 0)
	})
	b, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	want := `   Saving       2,000 of 20,000 keys (10 %), 2,000/s, 9s left
   Saving       6,000 of 20,000 keys (30 %), 2,000/s, 7s left
   Saving       14,000 of 20,000 keys (70 %), 2,000/s, 3s left
   Reading      6 revisions, 3/s
`
	if diff := cmp.Diff(want, string(b)); diff != "" {
		t.Error(diff)
	}
}
