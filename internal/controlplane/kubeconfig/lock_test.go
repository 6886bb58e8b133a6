package kubeconfig_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"fairlead.dev/internal/controlplane/kubeconfig"
	"k8s.io/client-go/tools/clientcmd"
)

// A change that kubectl makes under its lock, while Merge is called, is kept.
func TestMergeWaitsForLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "config")
		hold(t, path)
		merged := make(chan error, 1)
		go func() { merged <- kubeconfig.Merge(path, kubeconfig.Entry{Server: "https://127.0.0.1:6443"}) }()
		synctest.Wait()
		if err := os.WriteFile(path, []byte(theirs), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path + ".lock"); err != nil {
			t.Fatal(err)
		}
		if err := <-merged; err != nil {
			t.Fatal(err)
		}
		config, err := clientcmd.LoadFromFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if config.Contexts["work"] == nil || config.Contexts[kubeconfig.Context] == nil {
			t.Errorf("contexts %v: want theirs and ours", config.Contexts)
		}
		if _, err := os.Stat(path + ".lock"); !os.IsNotExist(err) {
			t.Errorf("the lock after Merge: %v", err)
		}
	})
}

// A lock that a killed program left behind is named in the error.
func TestMergeNamesStaleLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "config")
		hold(t, path)
		err := kubeconfig.Merge(path, kubeconfig.Entry{Server: "https://127.0.0.1:6443"})
		if err == nil || !strings.Contains(err.Error(), path+".lock") {
			t.Errorf("error %v: want one that names %s.lock", err, path)
		}
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("the locked file was written: %v", err)
		}
	})
}

func hold(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path+".lock", nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
