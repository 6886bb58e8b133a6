package controlplane

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"fairlead.dev/internal/controlplane/pki"
	"fairlead.dev/internal/server/auth/bootstrap"
)

// Renew replaces certificates and keys while the control plane serves. New connections get the new certificates, and
// present connections stay. Errors: pki.ErrUnfinished, pki.ErrFinished.
func (cp *ControlPlane) Renew(ctx context.Context, r pki.Renewal) error {
	if err := errors.Join(r.Check(), cp.options.renews(r)); err != nil {
		return err
	}
	cp.renewing.Lock()
	defer cp.renewing.Unlock()
	if r.Rotates() {
		authority := cp.credentials.authority
		retired := authority.Retired()
		if err := cp.rotate(ctx, r.Rotation); err != nil {
			return err
		}
		if err := cp.publishTrust(ctx, bootstrap.ReconcileWithout(retired, authority.Trusted())); err != nil {
			return fmt.Errorf("the ConfigMap %s: %w", bootstrap.TrustName, err)
		}
	}
	for _, name := range pki.Leaves {
		if r.All || slices.Contains(r.Names, name) {
			cp.credentials.renew(name)
		}
	}
	return cp.rewriteClientFiles()
}

// renews returns an error if the Renewal names a certificate or key that is in a file of the user's.
func (o Options) renews(r pki.Renewal) error {
	for name, file := range o.external() {
		if slices.Contains(r.Names, name) {
			return fmt.Errorf("%s is in a file of yours, %s: replace the file; the server reads it again", name, file)
		}
	}
	switch {
	case r.TokenKey && o.Access.SigningKeyFile != "":
		return fmt.Errorf("the service account key is in a file of yours, %s of --service-account-signing-key-file: replace it, add the former one by --service-account-key-file, and restart the server", o.Access.SigningKeyFile)
	case r.TokenKey && o.Access.SigningEndpoint != "":
		return errors.New("service account tokens are signed by the program at --service-account-signing-endpoint, which has the keys")
	}
	return nil
}

// external returns the files of leaf certificates that are the user's, by name.
func (o Options) external() map[string]string {
	files := map[string]string{}
	if f := o.Serving.Certificate.CertFile; f != "" {
		files[pki.ServingLeaf] = f
	}
	if f := o.Kubelets.CertFile; f != "" {
		files[pki.KubeletLeaf] = f
	}
	return files
}

// rotate changes the keys where they are kept, and then in this process.
func (cp *ControlPlane) rotate(ctx context.Context, r pki.Rotation) error {
	authority := cp.credentials.authority
	if cp.sharesKeys() {
		return errors.Join(rotateShared(ctx, cp.store, authority, r), cp.saveShared())
	}
	next, err := authority.Rotated(r)
	if err != nil {
		return err
	}
	if !cp.options.InMemory {
		if err := next.Save(filepath.Join(cp.options.DataDir, pkiDir)); err != nil {
			return err
		}
	}
	authority.Adopt(next)
	return nil
}

// rewriteClientFiles writes the files for clients with the present certificates.
func (cp *ControlPlane) rewriteClientFiles() error {
	if err := cp.writeClientFiles(); err != nil || cp.options.Renewed == nil {
		return err
	}
	return cp.options.Renewed(cp.Entry())
}

// renew has a leaf certificate issued anew.
func (c credentials) renew(name string) {
	switch name {
	case pki.ServingLeaf:
		c.authority.Renew("")
	case pki.KubeletLeaf:
		c.authority.Renew(kubeletClient)
	case pki.FrontProxyLeaf:
		c.authority.FrontProxy().Renew(bootstrap.FrontProxy)
	case pki.KubeconfigLeaf:
		c.authority.Renew(adminUser)
	}
}
