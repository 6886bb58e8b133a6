package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"unicode/utf8"

	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
	"github.com/spf13/cobra"
)

// keyRecord is a key or a change of one, as JSON.
type keyRecord struct {
	Type           string           `json:"type,omitempty"`
	Key            string           `json:"key"`
	Value          string           `json:"value,omitempty"`
	ValueBytes     []byte           `json:"valueBytes,omitempty"` // if it is no text
	CreateRevision storage.Revision `json:"createRevision,omitempty"`
	ModRevision    storage.Revision `json:"modRevision"`
	Version        int64            `json:"version,omitempty"`
	Lease          storage.LeaseID  `json:"lease,omitempty"`
}

func printKey(out io.Writer, output, kind string, kv *storage.KeyValue) error {
	if output != "json" {
		if kind != "" {
			fmt.Fprintln(out, kind)
		}
		_, err := fmt.Fprintf(out, "%s\n%s\n", kv.Key, kv.Value)
		return err
	}
	r := keyRecord{
		Type: kind, Key: kv.Key, CreateRevision: kv.CreateRevision, ModRevision: kv.ModRevision,
		Version: kv.Version, Lease: kv.Lease,
	}
	if utf8.Valid(kv.Value) {
		r.Value = string(kv.Value)
	} else {
		r.ValueBytes = kv.Value
	}
	return json.NewEncoder(out).Encode(r)
}

func exactlyOneKey(cmd *cobra.Command, args []string) error {
	if len(args) != 1 || args[0] == "" {
		return usageError{fmt.Errorf("%s takes one key", cmd.CommandPath())}
	}
	return nil
}

// requireNonNegative refuses a revision that there cannot be.
func requireNonNegative(revision int64) error {
	if revision < 0 {
		return usageError{fmt.Errorf("--revision=%d: revisions begin at 1", revision)}
	}
	return nil
}

func rangeEnd(key string, prefix bool) string {
	if prefix {
		return storage.PrefixEnd(key)
	}
	return ""
}

func newStoreGet(f *storeFlags) *cobra.Command {
	var prefix, keysOnly bool
	var revision int64
	cmd := &cobra.Command{
		Use:   "get KEY",
		Short: "Print a key, or all keys that begin with it, as etcdctl does",
		Example: `  fairlead store get /registry/pods/ --prefix --keys-only
  fairlead store get /registry/pods/default/web -o json`,
		Args: exactlyOneKey,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := requireNonNegative(revision); err != nil {
				return err
			}
			s, err := f.open(cmd.Context())
			if err != nil {
				return err
			}
			defer s.Close()
			r := storage.RangeRequest{
				Start: args[0], End: rangeEnd(args[0], prefix), Revision: storage.Revision(revision), Limit: 1000,
			}
			for {
				res, err := s.Range(cmd.Context(), r)
				if err != nil {
					return err
				}
				for _, kv := range res.KVs {
					switch {
					case !keysOnly:
						err = printKey(cmd.OutOrStdout(), f.output, "", kv)
					case f.output == "json":
						bare := *kv
						bare.Value = nil
						err = printKey(cmd.OutOrStdout(), f.output, "", &bare)
					default:
						_, err = fmt.Fprintln(cmd.OutOrStdout(), kv.Key)
					}
					if err != nil {
						return err
					}
					r.Start = kv.Key + "\x00"
				}
				if !res.More {
					return nil
				}
				r.Revision = res.Revision
			}
		},
	}
	cmd.Flags().BoolVar(&prefix, "prefix", false, "all keys that begin with KEY")
	cmd.Flags().BoolVar(&keysOnly, "keys-only", false, "print keys without values")
	cmd.Flags().Int64Var(&revision, "revision", 0, "as of this revision (default the latest)")
	return cmd
}

func newStoreWatch(f *storeFlags) *cobra.Command {
	var prefix bool
	var revision int64
	cmd := &cobra.Command{
		Use:     "watch KEY",
		Short:   "Print changes of a key, or of all keys that begin with it, until interrupted",
		Example: `  fairlead store watch /registry/pods/ --prefix --endpoints=127.0.0.1:2379`,
		Args:    exactlyOneKey,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(f.validate(), requireNonNegative(revision)); err != nil {
				return err
			}
			if f.useRunningSocket(); len(f.endpoints) == 0 {
				return usageError{errors.New("a stopped store has no changes to watch: select a running one with --endpoints")}
			}
			s, err := f.open(cmd.Context())
			if err != nil {
				return err
			}
			defer s.Close()
			after := storage.Revision(0)
			if revision > 0 {
				after = max(1, storage.Revision(revision)-1)
			}
			c, err := s.Watch(storage.WatchRequest{Start: args[0], End: rangeEnd(args[0], prefix), After: after})
			if err != nil {
				return err
			}
			defer c.Close()
			for {
				b, err := c.Next()
				if err != nil {
					return err
				}
				for _, e := range b.Events {
					kind := "PUT"
					if e.Type == storage.Delete {
						kind = "DELETE"
					}
					if err := printKey(cmd.OutOrStdout(), f.output, kind, e.KV); err != nil {
						return err
					}
				}
				select {
				case <-cmd.Context().Done():
					return nil
				case <-c.Bell():
				}
			}
		},
	}
	cmd.Flags().BoolVar(&prefix, "prefix", false, "all keys that begin with KEY")
	cmd.Flags().Int64Var(&revision, "revision", 0, "start at this revision (default: only new changes)")
	return cmd
}

func newStoreCompact(f *storeFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "compact [REVISION]",
		Short: "Compact the history below a revision (default the latest), and free the space",
		Example: `  fairlead store compact
  fairlead store compact 12345 --endpoints=127.0.0.1:2379`,
		RunE: func(cmd *cobra.Command, args []string) error {
			var at storage.Revision
			if len(args) > 1 {
				return usageError{errors.New("compact takes one revision at most")}
			}
			if len(args) == 1 {
				n, err := strconv.ParseUint(args[0], 10, 63)
				if err != nil {
					return usageError{fmt.Errorf("%q is not a revision", args[0])}
				}
				at = storage.Revision(n)
			}
			s, err := f.open(cmd.Context())
			if err != nil {
				return err
			}
			defer s.Close()
			if at == 0 {
				at = s.Revision()
			}
			p := newProgress(os.Stderr)
			if s.Compacted() == at && len(args) == 0 {
				p.step("Compacted", fmt.Sprintf("already, at revision %d", at))
				return f.printCompacted(cmd.OutOrStdout(), at)
			}
			if err := s.Compact(cmd.Context(), at); err != nil {
				return err
			}
			p.step("Compacted", fmt.Sprintf("at revision %d", at))
			if l, ok := s.(*local.Store); ok {
				if err := l.Defragment(cmd.Context()); err != nil {
					return err
				}
				p.step("Freed", fmt.Sprintf("%d bytes on disk now", l.Stats().DiskBytes))
			}
			return f.printCompacted(cmd.OutOrStdout(), at)
		},
	}
}

// printCompacted prints the revision for machines only; people have seen it as progress.
func (f *storeFlags) printCompacted(out io.Writer, at storage.Revision) error {
	if f.output != "json" {
		return nil
	}
	return json.NewEncoder(out).Encode(struct {
		Compacted storage.Revision `json:"compacted"`
	}{at})
}
