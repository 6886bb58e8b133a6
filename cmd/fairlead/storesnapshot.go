package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"fairlead.dev/internal/storage/snapshot"
	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
	"github.com/spf13/cobra"
)

func newStoreSnapshot(f *storeFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "Save a store to a file, or restore it",
		Long: `Save a store to a file, or restore it.

The file is an etcd snapshot: 'etcdutl snapshot restore' can restore it, and restore
accepts snapshots of 'etcdctl snapshot save'.`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	save := &cobra.Command{
		Use:   "save FILE",
		Short: "Save all keys at the present revision, with a checksum; the store keeps serving",
		Example: `  fairlead store snapshot save backup.db --endpoints=127.0.0.1:2379
  fairlead store snapshot save backup.db --data-dir=.fairlead`,
		Args: exactlyOneFile,
		RunE: func(cmd *cobra.Command, args []string) error { return saveSnapshot(cmd, f, args[0]) },
	}
	restore := &cobra.Command{
		Use:   "restore FILE",
		Short: "Restore a snapshot into an empty data directory, or into an empty etcd",
		Long: `Restore a snapshot into an empty data directory, or into an empty etcd.

A data directory continues at the revision of the snapshot. A running etcd gives the
keys new revisions.`,
		Example: `  fairlead store snapshot restore backup.db --data-dir=.restored
  fairlead store snapshot restore backup.db --endpoints=https://etcd-1:2379 --cacert=ca.crt --cert=me.crt --key=me.key`,
		Args: exactlyOneFile,
		RunE: func(cmd *cobra.Command, args []string) error { return restoreSnapshot(cmd, f, args[0]) },
	}
	cmd.AddCommand(save, restore)
	return cmd
}

func exactlyOneFile(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usageError{fmt.Errorf("%s takes one file", cmd.CommandPath())}
	}
	return nil
}

// snapshotReport is the JSON output of save and restore.
type snapshotReport struct {
	Revision storage.Revision `json:"revision"`
	Keys     int64            `json:"keys"`
	Bytes    int64            `json:"bytes"`
}

func (r snapshotReport) print(cmd *cobra.Command, p *progress, output, did, where string) error {
	p.step(did, fmt.Sprintf("%s: %d keys at revision %d, %d bytes", where, r.Keys, r.Revision, r.Bytes))
	if output == "json" {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(r)
	}
	return nil
}

func saveSnapshot(cmd *cobra.Command, f *storeFlags, file string) error {
	s, err := f.open(cmd.Context())
	if err != nil {
		return err
	}
	defer s.Close()
	p := newProgress(os.Stderr)
	defer p.end()
	taken, err := snapshot.Take(cmd.Context(), s, filepath.Dir(file), p.meter("Saving", "keys").at)
	if err != nil {
		return err
	}
	defer taken.Close()
	if err := taken.SaveAs(file); err != nil {
		return err
	}
	return snapshotReport{taken.Revision, taken.Keys, taken.Size}.print(cmd, p, f.output, "Saved", file)
}

func restoreSnapshot(cmd *cobra.Command, f *storeFlags, file string) error {
	if err := f.validate(); err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	p := newProgress(os.Stderr)
	defer p.end()
	snap, err := snapshot.Read(file, p.meter("Reading", "revisions").at)
	if err != nil {
		return err
	}
	restoring := p.meter("Restoring", "keys")
	r := snapshotReport{snap.Revision, int64(len(snap.KVs)), info.Size()}
	if len(f.endpoints) == 0 {
		if err := local.Restore(f.path(), local.Options{Progress: restoring.at}, snap.Revision, snap.KVs, snap.Leases); err != nil {
			return err
		}
		return r.print(cmd, p, f.output, "Restored", f.path())
	}
	s, err := f.open(cmd.Context())
	if err != nil {
		return err
	}
	defer s.Close()
	if err := snap.Into(cmd.Context(), s, restoring.at); err != nil {
		return err
	}
	r.Revision = s.Revision()
	return r.print(cmd, p, f.output, "Restored", f.endpoints[0])
}
