package controlplane

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"fairlead.dev/internal/controlplane/pki"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/bootstrap"
	"fairlead.dev/storage"
)

// renewalCheck is how often the certificate of the kubeconfig is looked at.
const renewalCheck = time.Hour

// renewsFiles reports whether the files for clients are written anew when their certificate is due: not in virtual time,
// which waiting would hold up, and not by a fork, which ends with a test.
func (cp *ControlPlane) renewsFiles() bool { return cp.base == nil && !cp.options.VirtualTime }

// renewFiles writes the files for clients anew whenever their certificate is in the last third of its life, until ctx ends.
// All other certificates are renewed when they are used.
func (cp *ControlPlane) renewFiles(ctx context.Context) error {
	tick := time.NewTicker(renewalCheck)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if err := cp.renewDue(); err != nil {
				cp.options.Log.Error("cannot renew the certificate of the kubeconfig", "file", cp.KubeconfigPath(), "err", err)
			}
		}
	}
}

// renewDue writes the files for clients anew if their certificate is due.
func (cp *ControlPlane) renewDue() error {
	cp.renewing.Lock()
	defer cp.renewing.Unlock()
	cert, _, err := cp.credentials.authority.Client(adminUser, auth.MastersGroup) // a new one if it is due
	if err != nil || string(cert) == string(cp.Entry().Cert) {
		return err
	}
	cp.options.Log.Info("renewed the certificate of the kubeconfig", "file", cp.KubeconfigPath())
	return cp.rewriteClientFiles()
}

// sharesKeys reports whether the keys are in an etcd cluster, where other servers change them, too.
func (cp *ControlPlane) sharesKeys() bool {
	o := cp.options
	return cp.base == nil && !o.InMemory && len(o.Etcd.Servers) > 0
}

// saveShared writes the shared keys to a data directory that has keys, which must be the same at the next start.
func (cp *ControlPlane) saveShared() error {
	dir := filepath.Join(cp.options.DataDir, pkiDir)
	kept, err := pki.Kept(dir)
	if err != nil || !kept {
		return err
	}
	return cp.credentials.authority.Save(dir)
}

// rotateShared changes the keys of all servers of an etcd cluster.
func rotateShared(ctx context.Context, s storage.Store, authority *pki.Authority, r pki.Rotation) error {
	shared, at, err := readShared(ctx, s)
	if err != nil {
		return err
	}
	if shared == nil {
		return errNoShared
	}
	next, err := shared.Rotated(r)
	if err != nil {
		return err
	}
	stored, err := offerShared(ctx, s, next, at)
	if err != nil {
		return err
	}
	authority.Adopt(stored)
	if !stored.Same(next) {
		return errors.New("another server has changed the keys at the same time: try again")
	}
	return nil
}

var errNoShared = errors.New("the keys that the servers of this etcd cluster share are gone")

// followSharedKeys adopts the keys that other servers of the etcd cluster write, until ctx ends. After an error of the store
// it starts again.
func (cp *ControlPlane) followSharedKeys(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := cp.adoptSharedKeys(ctx); err != nil && ctx.Err() == nil {
			cp.options.Log.Warn("cannot follow the keys that the servers share", "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	return nil
}

// adoptSharedKeys adopts the present keys, and those after each change of them.
func (cp *ControlPlane) adoptSharedKeys(ctx context.Context) error {
	cursor, err := cp.store.Watch(storage.WatchRequest{Start: sharedKeys})
	if err != nil {
		return err
	}
	defer cursor.Close()
	for {
		if _, err := cursor.Next(); err != nil {
			return err
		}
		if err := cp.adoptShared(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-cursor.Bell():
		}
	}
}

// adoptShared adopts the keys of the etcd cluster, if they differ.
func (cp *ControlPlane) adoptShared(ctx context.Context) error {
	cp.renewing.Lock()
	defer cp.renewing.Unlock()
	authority := cp.credentials.authority
	shared, _, err := readShared(ctx, cp.store)
	if err != nil || shared == nil || authority.Same(shared) {
		return err
	}
	retired := authority.Retired()
	authority.Adopt(shared)
	return errors.Join(cp.saveShared(), cp.publishTrust(ctx, bootstrap.ReconcileWithout(retired, authority.Trusted())), cp.rewriteClientFiles())
}
