package reload

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestLater: a load that may succeed later is tried again without a change, and reported at its first failure and when it
// has succeeded.
func TestLater(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := New(path)
	w.every = time.Millisecond
	if err := os.WriteFile(path, []byte("two"), 0o600); err != nil {
		t.Fatal(err)
	}
	silent, broken := LaterError{errors.New("silent")}, errors.New("broken")
	results := []error{silent, silent, silent, nil, broken}
	var reports []error
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w.Run(ctx, func() error {
		err := results[0]
		results = results[1:]
		return err
	}, func(err error) {
		reports = append(reports, err)
		switch err {
		case nil: // the next load is that of a change
			next := path + ".next"
			if err := errors.Join(os.WriteFile(next, []byte("three"), 0o600), os.Rename(next, path)); err != nil {
				t.Error(err)
			}
		case broken:
			cancel()
		}
	})
	if !slices.Equal(reports, []error{silent, nil, broken}) || len(results) > 0 {
		t.Errorf("reports %v, results that are left: %v", reports, results)
	}
}
