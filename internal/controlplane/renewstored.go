package controlplane

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"fairlead.dev/internal/controlplane/kubeconfig"
	"fairlead.dev/internal/controlplane/pki"
	"fairlead.dev/internal/server/auth"
)

// Stored is a stopped control plane with its keys in a data directory.
type Stored struct {
	DataDir string
	// Kubeconfig is the path of its kubeconfig.
	Kubeconfig string
}

// Certificates describes the certificates and keys in the files. Others are issued at the start.
func (s Stored) Certificates() ([]pki.Item, error) {
	authority, err := s.authority()
	if err != nil {
		return nil, err
	}
	items := authority.Items()
	entry, err := kubeconfig.Read(s.Kubeconfig)
	if errors.Is(err, fs.ErrNotExist) {
		return items, nil
	}
	if err != nil {
		return nil, err
	}
	c, err := clientCertificate(entry.Cert, entry.Key, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Kubeconfig, err)
	}
	return append(items, pki.Describe(c.Leaf, time.Now(), pki.Item{Name: pki.KubeconfigLeaf, Purpose: kubeconfigPurpose, State: pki.Active, File: s.Kubeconfig})), nil
}

// Renew replaces certificates and keys as ControlPlane.Renew does, and returns the new content of the kubeconfig.
func (s Stored) Renew(r pki.Renewal) (kubeconfig.Entry, error) {
	authority, err := s.authority()
	if err != nil {
		return kubeconfig.Entry{}, err
	}
	entry, err := kubeconfig.Read(s.Kubeconfig)
	if err != nil {
		return entry, err
	}
	former := authority.PEM()
	if r.Rotates() {
		if authority, err = authority.Rotated(r.Rotation); err != nil {
			return entry, err
		}
		if err := authority.Save(filepath.Join(s.DataDir, pkiDir)); err != nil {
			return entry, err
		}
	}
	if bytes.Equal(entry.CA, former) { // and not the CA of a certificate of the user's
		entry.CA = authority.PEM()
	}
	if entry.Cert, entry.Key, err = authority.Client(adminUser, auth.MastersGroup); err != nil {
		return entry, err
	}
	if err := kubeconfig.ReplaceFile(filepath.Join(s.DataDir, caFile), entry.CA, 0o644); err != nil {
		return entry, err
	}
	return entry, kubeconfig.Write(s.Kubeconfig, entry)
}

// authority reads the keys.
func (s Stored) authority() (*pki.Authority, error) {
	dir := filepath.Join(s.DataDir, pkiDir)
	kept, err := pki.Kept(dir)
	if err == nil && !kept {
		err = fmt.Errorf("there are no keys in %s", s.DataDir)
	}
	if err != nil {
		return nil, err
	}
	return pki.Load(dir)
}
