package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
	"github.com/spf13/cobra"
)

// storeStatus is what status and verify print. What is not known is left out.
type storeStatus struct {
	Revision  storage.Revision `json:"revision"`
	Compacted storage.Revision `json:"compacted"`
	Keys      int64            `json:"keys"`
	Leases    int64            `json:"leases"`
	Events    *int64           `json:"events,omitempty"`
	LiveBytes *uint64          `json:"liveBytes,omitempty"`
	DiskBytes *uint64          `json:"diskBytes,omitempty"`
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
		Short: "Print how far a store is and how large",
		Example: `  fairlead store status
  fairlead store status --endpoints=127.0.0.1:2379 -o json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.reach(); len(f.endpoints) == 0 {
				s, err := f.inspect()
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

// inspect reads a store that nobody has open.
func (f *storeFlags) inspect() (storeStatus, error) {
	if err := f.check(); err != nil {
		return storeStatus{}, err
	}
	if err := f.exists(); err != nil {
		return storeStatus{}, err
	}
	p := newProgress(os.Stderr)
	count := counter(p, "records")
	r, err := local.Verify(f.path(), local.Options{}, func(n int64) { count(n, 0) })
	if err != nil {
		return storeStatus{}, hint(err)
	}
	return storeStatus{
		Revision: r.Revision, Compacted: r.Compacted, Keys: r.Keys, Leases: r.Leases,
		Events: &r.Events, LiveBytes: &r.LiveBytes, DiskBytes: &r.DiskBytes,
	}, nil
}

func newStoreVerify(f *storeFlags) *cobra.Command {
	return &cobra.Command{
		Use:     "verify",
		Short:   "Read all of a store that does not run, and check every record and checksum",
		Example: `  fairlead store verify --data-dir=.fairlead`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(f.endpoints) > 0 {
				return usageError{fmt.Errorf("verify reads a directory: stop the store, and name it with --data-dir")}
			}
			s, err := f.inspect()
			if err != nil {
				return err
			}
			newProgress(os.Stderr).step("Verified", f.path())
			return s.print(cmd.OutOrStdout(), f.output)
		},
	}
}
