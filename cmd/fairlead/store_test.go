package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestCounter: long work prints its progress once a second, short work does not.
func TestCounter(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	synctest.Test(t, func(t *testing.T) {
		count := progressCounter(newProgress(file), "keys saved")
		for i := range int64(10) {
			count(i, 10)
			time.Sleep(300 * time.Millisecond)
		}
		count = progressCounter(newProgress(file), "records")
		count(5, 0)
		time.Sleep(2 * time.Second)
		count(6, 0)
	})
	b, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	want := "   keys saved: 4 of 10 (40 %)\n   keys saved: 8 of 10 (80 %)\n   records: 6\n"
	if got := string(b); got != want || strings.Contains(got, "\x1b") {
		t.Errorf("it says\n%s", got)
	}
}
