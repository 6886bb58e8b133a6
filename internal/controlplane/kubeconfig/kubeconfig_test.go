package kubeconfig_test

import (
	"os"
	"path/filepath"
	"testing"

	"fairlead.dev/internal/controlplane/kubeconfig"
	"k8s.io/client-go/tools/clientcmd"
)

const theirs = `apiVersion: v1
kind: Config
current-context: work
clusters:
- name: work
  cluster: {server: "https://work.example"}
contexts:
- name: work
  context: {cluster: work, user: me, namespace: team}
users:
- name: me
  user: {token: secret}
`

func TestMergeKeepsOtherEntries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(theirs), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := kubeconfig.Merge(path, kubeconfig.Entry{Server: "https://127.0.0.1:6443"}); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if config.CurrentContext != kubeconfig.Context {
		t.Errorf("current context %q", config.CurrentContext)
	}
	if got := config.AuthInfos["me"].Token; got != "secret" {
		t.Errorf("their token became %q", got)
	}
	if got := config.Contexts["work"].Namespace; got != "team" {
		t.Errorf("their namespace became %q", got)
	}
	if got := config.Clusters[kubeconfig.Context].Server; got != "https://127.0.0.1:6443" {
		t.Errorf("our server is %q", got)
	}
}

func TestMergeRefusesInvalidFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte("{not yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := kubeconfig.Merge(path, kubeconfig.Entry{Server: "https://127.0.0.1:6443"}); err == nil {
		t.Fatal("merged into a file that does not parse")
	}
	if b, _ := os.ReadFile(path); string(b) != "{not yaml" {
		t.Errorf("the file became %q", b)
	}
}

func TestWriteIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "kubeconfig")
	if err := kubeconfig.Write(path, kubeconfig.Entry{Server: "https://127.0.0.1:6443"}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("mode %o", mode)
	}
}

// Remove takes away what Merge added, and leaves a context of the same name that belongs to another control plane.
func TestRemove(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(theirs), 0o600); err != nil {
		t.Fatal(err)
	}
	ours := kubeconfig.Entry{Name: "fairlead-a", Server: "https://127.0.0.1:6443", CA: []byte("one\n")}
	if err := kubeconfig.Merge(path, ours); err != nil {
		t.Fatal(err)
	}
	other := ours
	other.CA = []byte("another\n")
	for _, step := range []struct {
		remove  kubeconfig.Entry
		left    bool
		current string
	}{{other, true, "fairlead-a"}, {ours, false, ""}, {ours, false, ""}} {
		if err := kubeconfig.Remove(path, step.remove); err != nil {
			t.Fatal(err)
		}
		config, err := clientcmd.LoadFromFile(path)
		if err != nil {
			t.Fatal(err)
		}
		left := config.Contexts["fairlead-a"] != nil && config.Clusters["fairlead-a"] != nil && config.AuthInfos["fairlead-a"] != nil
		if left != step.left || config.CurrentContext != step.current || config.Contexts["work"] == nil {
			t.Errorf("after the removal of CA %q: left %t, current %q, contexts %v", step.remove.CA, left, config.CurrentContext, config.Contexts)
		}
	}
	gone := filepath.Join(t.TempDir(), "gone")
	if err := kubeconfig.Remove(gone, ours); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(gone); !os.IsNotExist(err) {
		t.Errorf("Remove made a file: %v", err)
	}
}
