package controlplane

import (
	"context"
	"errors"

	"fairlead.dev/internal/reload"
	"fairlead.dev/internal/resource/builtin"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/storage/encryption"
	"fairlead.dev/server"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// Encryption configures the encryption of values at rest, as kube-apiserver's flags do; see package
// internal/storage/encryption.
type Encryption struct {
	// ConfigFile is an EncryptionConfiguration; "" stores values as they are.
	ConfigFile string
	// Reloads reads the file again when it changes.
	Reloads bool
}

// LoadKeys loads the keys of the values of a store whose keys have a prefix in etcd; of the embedded store that is
// DefaultEtcdPrefix.
func (e Encryption) LoadKeys(prefix string) (*encryption.Keys, error) {
	keys, err := encryption.Load(encryption.Options{
		File: e.ConfigFile, Reloads: e.Reloads, Server: serverID(),
		Resource: endpoint.ResourceOfKey(builtin.Resources()), Root: watchcache.Root, Stored: (Etcd{Prefix: prefix}).root(),
	})
	if err != nil {
		return nil, optionErrorf("--encryption-provider-config: %w", err)
	}
	return keys, nil
}

// loadKeys loads the keys of the values of the store, if they are encrypted. A fork shares those of the control plane that
// it is a fork of.
func (cp *ControlPlane) loadKeys() (err error) {
	o := cp.options
	switch {
	case cp.base != nil:
		cp.keys = cp.base.keys.Share()
		return nil
	case o.Encryption.ConfigFile == "":
		return nil
	}
	if o.Encryption.Reloads {
		cp.credentials.reloads.follow("encryption", func(ctx context.Context) error {
			err := cp.keys.Reload(ctx)
			if errors.As(err, new(encryption.SilentPluginError)) {
				err = reload.LaterError{Err: err}
			}
			return err
		}, o.Encryption.ConfigFile)
	}
	prefix := ""
	if len(o.Etcd.Servers) > 0 {
		prefix = o.Etcd.Prefix
	}
	cp.keys, err = o.Encryption.LoadKeys(prefix)
	return err
}

// encryptedStore is a store with encrypted values.
type encryptedStore struct {
	storage.Store
	under store
}

// Err implements store.
func (s encryptedStore) Err() error { return s.under.Err() }

// encrypt makes the server decrypt the values of its stores.
func encrypt(c *server.Config, keys *encryption.Keys) {
	c.History.Open, c.Stale = keys.Open, keys.Stale
}

// encryptionHooks are the checks that encryption adds to those of the server.
func encryptionHooks(o Encryption, keys *encryption.Keys) (list []server.Check) {
	if keys == nil {
		return nil
	}
	if check := keys.Check(); check != nil {
		list = append(list, server.Check{Name: encryption.CheckName, Of: check})
	}
	if o.Reloads {
		list = append(list, server.Check{Name: "poststarthook/start-encryption-provider-config-automatic-reload", Of: func(context.Context) error { return nil }})
	}
	return list
}
