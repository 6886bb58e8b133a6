//go:build suites

package suites

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// kueueCRDs makes the CRDs that Kueue's tests read, as its Makefile does: its own by kustomize, and those of Cluster Autoscaler.
func kueueCRDs(t *testing.T, dir string) {
	t.Helper()
	own := filepath.Join(dir, "config", "components", "crd")
	crds, err := exec.Command("go", "run", "-C", "../../cmd/kubectl", ".", "kustomize", own).Output()
	if err != nil {
		t.Fatalf("kubectl kustomize %s: %v", own, err)
	}
	made := filepath.Join(own, "_output", "crds-with-webhooks.yaml")
	if err := os.MkdirAll(filepath.Dir(made), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(made, crds, 0o644); err != nil {
		t.Fatal(err)
	}
	theirs := os.DirFS(filepath.Join(download(t, dir, "k8s.io/autoscaler/cluster-autoscaler/apis"), "config", "crd"))
	if err := os.CopyFS(filepath.Join(dir, "dep-crds", "cluster-autoscaler"), theirs); err != nil {
		t.Fatal(err)
	}
}
