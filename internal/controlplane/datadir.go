package controlplane

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The entries of a data directory. No others are ever written there.
const (
	storeDir       = "store"
	pkiDir         = "pki"
	kubeconfigFile = "kubeconfig"
	caFile         = "ca.crt"
	// instanceDir belongs to the process that runs the control plane.
	instanceDir = "instance"
)

// CheckDataDir rejects an existing directory with an entry that this program does not
// write, before it writes to it.
func CheckDataDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case name == storeDir, name == pkiDir, name == kubeconfigFile, name == caFile, name == instanceDir:
		case strings.HasPrefix(name, "."+kubeconfigFile+"-"), strings.HasPrefix(name, "."+caFile+"-"): // a write cut short
		default:
			return fmt.Errorf("%s is not a Fairlead data directory (it holds %q): choose an empty one with --data-dir", dir, name)
		}
	}
	return nil
}

// ClientCA returns the CA of the kubeconfig of a data directory; nil without one.
func ClientCA(dir string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(dir, caFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// RemoveClientFiles removes the files for clients from a data directory.
func RemoveClientFiles(dir string) error {
	return removeEntries(dir, func(name string) bool { return name != storeDir && name != pkiDir && name != instanceDir })
}

// RemoveData removes everything from the data directory of a stopped control plane, except the files of its instance.
func RemoveData(dir string) error {
	return removeEntries(dir, func(name string) bool { return name != instanceDir })
}

// removeEntries removes selected entries from a data directory.
func removeEntries(dir string, selected func(name string) bool) error {
	if err := CheckDataDir(dir); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if selected(e.Name()) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// HasStore reports whether a data directory has a store.
func HasStore(dir string) (bool, error) {
	_, err := os.Stat(filepath.Join(dir, storeDir))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
