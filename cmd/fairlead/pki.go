package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/kubeconfig"
	"fairlead.dev/internal/controlplane/pki"
	"fairlead.dev/internal/instance"
)

// pkiFlags are the common flags of `pki`'s commands.
type pkiFlags struct {
	server  instanceFlags
	name    string
	timeout time.Duration
}

func (f *pkiFlags) register(cmd *cobra.Command) {
	f.server.register(cmd)
	registerName(cmd, cmd.Flags(), &f.name, "name of the server (default FAIRLEAD_NAME, else the one of this directory)")
	registerTimeout(cmd, &f.timeout)
}

// find returns the instance.
func (f *pkiFlags) find() (instance.Instance, error) {
	if f.name != "" {
		return f.server.find([]string{f.name})
	}
	return f.server.find(nil)
}

func newPKI() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pki",
		Short: "List and renew the certificates and keys of a server",
		Args:  unknownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPKIList(), newPKIRenew())
	return cmd
}

func newPKIList() *cobra.Command {
	var f pkiFlags
	var output string
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"check-expiration"},
		Short:   "List certificates and keys, and when they expire",
		Long: `List shows the certificates and keys of a server, running or stopped: their use, and the time
that they are still valid. A stopped server has only its CAs, its key for service account
tokens and its kubeconfig; it issues the others at its start.`,
	}
	f.register(cmd)
	registerFormat(cmd, &output)
	cmd.Args, cmd.ValidArgsFunction = noArgs, nil
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := checkFormat(output); err != nil {
			return err
		}
		in, err := f.find()
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), f.timeout)
		defer cancel()
		items, err := listPKI(ctx, in)
		switch {
		case err != nil:
			return err
		case output != "":
			return encode(cmd.OutOrStdout(), output, items)
		}
		return printItems(cmd.OutOrStdout(), items)
	}
	return cmd
}

// listPKI describes the certificates and keys of an instance, running or stopped.
func listPKI(ctx context.Context, in instance.Instance) (items []pki.Item, err error) {
	process, err := in.Connect()
	if err == nil {
		return process.Certificates(ctx)
	}
	if !errors.Is(err, instance.ErrStopped) {
		return nil, err
	}
	return items, withStopped(in, func() error {
		s, _, err := stored(in)
		if err == nil {
			items, err = s.Certificates()
		}
		return err
	})
}

// stored returns the control plane of a stopped instance, and the record of its last start.
func stored(in instance.Instance) (controlplane.Stored, instance.Record, error) {
	record, err := in.Record()
	return controlplane.Stored{DataDir: in.DataDir, Kubeconfig: record.Kubeconfig}, record, err
}

// printItems writes the items for people.
func printItems(out io.Writer, items []pki.Item) error {
	w := tabwriter.NewWriter(out, 0, 8, 3, ' ', 0)
	fmt.Fprintln(w, "NAME\tSTATE\tEXPIRES\tRESIDUAL\tISSUER\tPURPOSE")
	for _, i := range items {
		expires, residual, issuer := "-", "-", orDash(strings.TrimPrefix(i.Issuer, "CN="))
		if i.NotAfter != nil {
			expires = i.NotAfter.UTC().Format("2006-01-02 15:04")
			residual = "expired"
			if left := time.Duration(*i.ResidualSeconds) * time.Second; left > 0 {
				residual = duration.HumanDuration(left)
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", i.Name, i.State, expires, residual, issuer, i.Purpose)
	}
	return w.Flush()
}

func newPKIRenew() *cobra.Command {
	var f pkiFlags
	var r pki.Renewal
	cmd := &cobra.Command{
		Use:   "renew [CERTIFICATE...]",
		Short: "Renew certificates, or rotate the CA or the service account key, while the server serves",
		Long: `Renew replaces certificates and keys of a server, running or stopped. A running one has the new
ones at once: new connections get the new certificate, connections and watches stay. The
kubeconfig, and the context in your own one, are written anew.

The certificates are ` + strings.Join(pki.Leaves, ", ") + `.
A server also renews them by itself in the last third of their life.

--ca and --service-account-key rotate a key in two steps. After the first one the new key signs
and both are trusted, so that clients with old certificates, CA files and tokens go on.
When all of them have new ones, --finish ends the trust in the old key.`,
		Example: `  # All certificates of the server and of its kubeconfig
  fairlead pki renew --all

  # A new CA: first both are trusted, then the new one alone
  fairlead pki renew --ca
  fairlead pki list
  fairlead pki renew --finish`,
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&r.All, "all", false, "renew all certificates of servers and clients")
	cmd.Flags().BoolVar(&r.CA, "ca", false, "begin to rotate the CA, and that of front proxies")
	cmd.Flags().BoolVar(&r.TokenKey, "service-account-key", false, "begin to rotate the key that signs service account tokens")
	cmd.Flags().BoolVar(&r.Finish, "finish", false, "end the trust in the CAs and keys that were replaced")
	cmd.Args, cmd.ValidArgsFunction = nil, cobra.FixedCompletions(pki.Leaves, cobra.ShellCompDirectiveNoFileComp)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r.Names = args
		if err := r.Check(); err != nil {
			return usageError{err}
		}
		in, err := f.find()
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), f.timeout)
		defer cancel()
		if err := renew(ctx, in, r); err != nil {
			return err
		}
		newProgress(os.Stderr).step("Renewed", in.String())
		return nil
	}
	return cmd
}

// renew replaces certificates and keys of an instance, running or stopped.
func renew(ctx context.Context, in instance.Instance, r pki.Renewal) error {
	process, err := in.Connect()
	if err == nil {
		return process.Renew(ctx, r)
	}
	if !errors.Is(err, instance.ErrStopped) {
		return err
	}
	return withStopped(in, func() error {
		s, record, err := stored(in)
		if err != nil {
			return err
		}
		entry, err := s.Renew(r)
		if err != nil || record.Merged == "" {
			return err
		}
		return kubeconfig.Renew(record.Merged, entry)
	})
}
