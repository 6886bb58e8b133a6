package pki

import (
	"os"
	"path/filepath"
	"testing"
)

// TestKilledWhileSaving: however many of the files have been replaced when the process ends, the directory has a usable
// authority in which each CA is the former one or the new one, and the rotation can be completed.
func TestKilledWhileSaving(t *testing.T) {
	old, err := Load(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	next, err := old.Rotated(Rotation{CA: true, TokenKey: true})
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	for done := 0; done <= steps; done++ {
		dir := t.TempDir()
		if err := old.Save(dir); err != nil {
			t.Fatal(err)
		}
		writes, err := next.writes(dir)
		if err != nil {
			t.Fatal(err)
		}
		steps = len(writes)
		for _, w := range writes[:done] {
			if err := w.do(dir); err != nil {
				t.Fatal(err)
			}
		}
		part := filepath.Join(dir, partPrefix+"ca.key-1") // of the write that was cut short
		if err := os.WriteFile(part, []byte("-----BEGIN"), 0o600); err != nil {
			t.Fatal(err)
		}
		kept, err := Load(dir)
		if err != nil {
			t.Fatalf("after %d of %d files: %v", done, steps, err)
		}
		if !(kept.same(old.CA) || kept.same(next.CA)) || !(kept.front.same(old.front) || kept.front.same(next.front)) {
			t.Errorf("after %d of %d files there is a CA that is neither the former nor the new one", done, steps)
		}
		if done == 0 && !kept.Same(old) || done == steps && !kept.Same(next) {
			t.Errorf("after %d of %d files it is the wrong authority", done, steps)
		}
		if done < steps-1 { // the last step only drops a key
			if kept, err = kept.Rotated(Rotation{CA: true}); err != nil {
				t.Errorf("after %d of %d files the rotation cannot be completed: %v", done, steps, err)
				continue
			}
		}
		if err := kept.Save(dir); err != nil {
			t.Fatal(err)
		}
		again, err := Load(dir)
		if err != nil || !again.Same(kept) || len(again.current.Load().retired) != 1 || len(again.front.current.Load().retired) != 1 {
			t.Errorf("after %d of %d files the completed rotation is lost: %v", done, steps, err)
		}
		if _, err := os.Stat(part); err == nil {
			t.Error("the part of a file stays")
		}
	}
	if steps < 7 {
		t.Errorf("only %d steps", steps)
	}
}
