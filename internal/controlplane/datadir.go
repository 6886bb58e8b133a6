package controlplane

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// The entries of a data directory. No others are ever written there.
const (
	storeDir       = "store"
	pkiDir         = "pki"
	kubeconfigFile = "kubeconfig"
	caFile         = "ca.crt"
)

// checkDataDir rejects an existing directory with an entry that this program does not
// write, before it writes to it.
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
