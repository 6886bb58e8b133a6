package controlplane_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"fairlead.dev/internal/controlplane"
)

// TestControllerNames checks that the names are sorted, and that each is the name of the controller's folder.
func TestControllerNames(t *testing.T) {
	names := controlplane.ControllerNames()
	if !slices.IsSorted(names) {
		t.Errorf("not sorted: %v", names)
	}
	for _, name := range names {
		if _, err := os.Stat(filepath.Join("..", "controllers", name)); err != nil {
			t.Error(err)
		}
	}
}
