package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/resource/builtin"
	"fairlead.dev/server"
	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
	"fairlead.dev/watchcache"
	"github.com/spf13/cobra"
)

// storeStatus is the output of status and verify. Unknown values are left out.
type storeStatus struct {
	Revision  storage.Revision `json:"revision"`
	Compacted storage.Revision `json:"compacted"`
	Keys      int64            `json:"keys"`
	Leases    int64            `json:"leases"`
	Events    *int64           `json:"events,omitempty"`
	LiveBytes *uint64          `json:"liveBytes,omitempty"`
	DiskBytes *uint64          `json:"diskBytes,omitempty"`
	// Unreadable are keys of objects that an API server of this version cannot read.
	Unreadable []unreadable `json:"unreadable,omitempty"`
}

type unreadable struct {
	Key   string `json:"key"`
	Error string `json:"error"`
}

func (s storeStatus) print(out io.Writer, output string) error {
	if output == "json" {
		return json.NewEncoder(out).Encode(s)
	}
	w := tabwriter.NewWriter(out, 0, 8, 3, ' ', 0)
	fmt.Fprintf(w, "REVISION\t%d\nCOMPACTED\t%d\nKEYS\t%d\nLEASES\t%d\n", s.Revision, s.Compacted, s.Keys, s.Leases)
	if s.Events != nil {
		fmt.Fprintf(w, "EVENTS KEPT\t%d\nLIVE BYTES\t%d\nDISK BYTES\t%d\n", *s.Events, *s.LiveBytes, *s.DiskBytes)
	}
	return w.Flush()
}

func newStoreStatus(f *storeFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Print a store's revision and size",
		Example: `  fairlead store status
  fairlead store status --endpoints=127.0.0.1:2379 -o json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.useRunningSocket(); len(f.endpoints) == 0 {
				s, err := f.inspect(nil)
				if err != nil {
					return err
				}
				return s.print(cmd.OutOrStdout(), f.output)
			}
			s, err := f.open(cmd.Context())
			if err != nil {
				return err
			}
			defer s.Close()
			all, err := s.Range(cmd.Context(), storage.RangeRequest{Start: "\x00", End: storage.NoEnd, CountOnly: true})
			if err != nil {
				return err
			}
			leases, err := s.Leases(cmd.Context())
			if err != nil {
				return err
			}
			return storeStatus{
				Revision: all.Revision, Compacted: s.Compacted(), Keys: all.Count, Leases: int64(len(leases)),
			}.print(cmd.OutOrStdout(), f.output)
		},
	}
}

// inspect reads a store that no process has open. It checks each key, unless check is nil.
func (f *storeFlags) inspect(check func(*storage.KeyValue) error) (s storeStatus, err error) {
	if err := f.validate(); err != nil {
		return s, err
	}
	if err := f.requireStore(); err != nil {
		return s, err
	}
	p := newProgress(os.Stderr)
	defer p.end()
	var each func(*storage.KeyValue)
	if check != nil {
		each = func(kv *storage.KeyValue) {
			if err := check(kv); err != nil {
				s.Unreadable = append(s.Unreadable, unreadable{kv.Key, err.Error()})
			}
		}
	}
	r, err := local.Verify(f.path(), local.Options{Progress: p.meter("Reading", "revisions").at}, each)
	if err != nil {
		return s, withStoreHint(err)
	}
	s.Revision, s.Compacted, s.Keys, s.Leases = r.Revision, r.Compacted, r.Keys, r.Leases
	s.Events, s.LiveBytes, s.DiskBytes = &r.Events, &r.LiveBytes, &r.DiskBytes
	return s, nil
}

func newStoreVerify(f *storeFlags) *cobra.Command {
	var keys controlplane.Encryption
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Read all of a stopped store, and check every record and checksum",
		Long: `Read all of a stopped store, and check every record and checksum.

Objects that an API server of this version cannot read, because their values are
encrypted, damaged, or of an unknown kind, are listed on stderr. The store is not damaged
by them: another API server may be able to read them. With --encryption-provider-config
values are decrypted, and objects that cannot be read are an error.`,
		Example: `  fairlead store verify --data-dir=.fairlead
  fairlead store verify --encryption-provider-config=encryption.yaml`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(f.endpoints) > 0 {
				return usageError{fmt.Errorf("verify reads a directory: stop the store, and name it with --data-dir")}
			}
			var open watchcache.Opener
			if keys.ConfigFile != "" {
				k, err := keys.LoadKeys(controlplane.DefaultEtcdPrefix)
				if err != nil {
					return usageError{err}
				}
				defer k.Close()
				open = k.Open
			}
			s, err := f.inspect(server.CheckStored(builtin.Resources(), open))
			if err != nil {
				return err
			}
			p := newProgress(os.Stderr)
			p.step("Verified", f.path())
			for _, u := range s.Unreadable {
				p.line(fmt.Sprintf("   %-12s %s: %s", "Unreadable", u.Key, u.Error))
			}
			if err := s.print(cmd.OutOrStdout(), f.output); err != nil {
				return err
			}
			if n := len(s.Unreadable); n > 0 && open != nil {
				return fmt.Errorf("%d of %d keys cannot be read with %s", n, s.Keys, keys.ConfigFile)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&keys.ConfigFile, "encryption-provider-config", "", "file with the EncryptionConfiguration of the server: decrypt values, and fail if objects cannot be read")
	return cmd
}
