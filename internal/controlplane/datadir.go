package controlplane

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
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
