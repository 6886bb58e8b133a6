package controlplane

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"fairlead.dev/storage/local"
)

// What lies in a data directory. Nothing else is ever written there.
const (
	storeDir       = "store"
	pkiDir         = "pki"
	kubeconfigFile = "kubeconfig"
	caFile         = "ca.crt"
)

// checkDataDir refuses a directory that is somebody else's before anything is
// written to it: one that exists and holds a name that we don't write.
func checkDataDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case name == storeDir, name == pkiDir, name == kubeconfigFile, name == caFile:
		case strings.HasPrefix(name, "."+kubeconfigFile+"-"), strings.HasPrefix(name, "."+caFile+"-"): // a write cut short
		default:
			return fmt.Errorf("%s is not a Fairlead data directory (it holds %q): choose an empty one with --data-dir", dir, name)
		}
	}
	return nil
}

// openStore opens the embedded store of a data directory, and says in one line
// what is wrong with it if it can't.
func openStore(o Options) (*local.Store, error) {
	if o.InMemory {
		return local.Open("", local.Options{InMemory: true})
	}
	dir := filepath.Join(o.DataDir, storeDir)
	if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	s, err := local.Open(dir, local.Options{})
	if errors.Is(err, local.ErrInUse) {
		return nil, fmt.Errorf("%s is in use by another process: stop it, or choose another with --data-dir", o.DataDir)
	}
	return s, err
}
