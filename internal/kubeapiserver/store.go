package kubeapiserver

import (
	"context"
	"errors"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/etcdstandin"
	"fairlead.dev/storage/local"
)

// useStore sets where the server keeps its objects: in the data directory of an etcd that package etcdstandin stands in
// for, or in the etcd cluster of --etcd-servers.
func useStore(ctx context.Context, o *controlplane.Options) error {
	if len(o.Etcd.Servers) == 0 {
		return errors.New("--etcd-servers must be specified")
	}
	store, ok := etcdstandin.Ask(ctx, o.Etcd.Servers[0])
	if !ok {
		return nil
	}
	if len(o.Etcd.Overrides) > 0 {
		return errors.New("--etcd-servers-overrides needs a real etcd in --etcd-servers: the store that stands in for it has all resources")
	}
	o.Etcd = controlplane.Etcd{}
	o.DataDir = store.APIServerDir()
	if store.NoFsync {
		o.Fsync = local.FsyncNever
	}
	return nil
}
