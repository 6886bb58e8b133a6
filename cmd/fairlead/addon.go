package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"fairlead.dev/client"
	"fairlead.dev/internal/client/manifest"
	"fairlead.dev/internal/join/addon"
)

func newAddon() *cobra.Command {
	var from target
	cmd := &cobra.Command{
		Use:   "addon",
		Short: "Apply CoreDNS and kube-proxy to a cluster of real nodes",
		Long: `Addon applies or prints the manifests of programs that a cluster of real nodes needs in pods,
fitted to the cluster: its version, its DNS address, the URL of its API server.`,
		Example: `  fairlead addon apply coredns
  fairlead addon print kube-proxy --image=registry.example/kube-proxy:v1.37.2 | kubectl apply -f -`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	from.register(cmd, cmd.PersistentFlags())
	cmd.AddCommand(
		newAddonDo(&from, "apply", "Apply an add-on by server-side apply", func(ctx context.Context, out io.Writer, c *client.Client, objects []*manifest.Object) error {
			if err := manifest.Apply(ctx, c, objects); err != nil {
				return err
			}
			for _, o := range objects {
				fmt.Fprintf(out, "%s/%s applied\n", strings.ToLower(o.GetKind()), o.GetName())
			}
			return nil
		}),
		newAddonDo(&from, "print", "Print the manifest of an add-on", func(_ context.Context, out io.Writer, _ *client.Client, objects []*manifest.Object) error {
			for i, o := range objects {
				text, err := yaml.Marshal(o)
				if err != nil {
					return err
				}
				if i > 0 {
					fmt.Fprintln(out, "---")
				}
				if _, err := out.Write(text); err != nil {
					return err
				}
			}
			return nil
		}),
		&cobra.Command{
			Use: "list", Short: "List the add-ons", Args: noArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 8, 3, ' ', 0)
				for _, a := range addon.All {
					fmt.Fprintf(w, "%s\t%s\n", a.Name, a.Short)
				}
				return w.Flush()
			},
		},
	)
	return cmd
}

// newAddonDo returns a command that does something with the objects of an add-on.
func newAddonDo(from *target, verb, short string, do func(context.Context, io.Writer, *client.Client, []*manifest.Object) error) *cobra.Command {
	var o addon.Options
	cmd := &cobra.Command{
		Use: verb + " NAME", Short: short,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{fmt.Errorf("%s takes the name of an add-on; see `fairlead addon list`", cmd.CommandPath())}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := addon.Find(args[0])
			if err != nil {
				return usageError{err}
			}
			if o.Replicas < 0 {
				return usageError{fmt.Errorf("--replicas=%d: want 0 or more", o.Replicas)}
			}
			return withServer(cmd.Context(), from, "fairlead-addon", func(ctx context.Context, c *client.Client, config *rest.Config) error {
				objects, err := a.Objects(ctx, c, config, o)
				if err != nil {
					return err
				}
				return do(ctx, cmd.OutOrStdout(), c, objects)
			})
		},
	}
	cmd.Flags().StringVar(&o.Image, "image", "", "image of the program (default upstream's for the server's version)")
	cmd.Flags().IntVar(&o.Replicas, "replicas", 2, "number of CoreDNS's pods")
	cmd.Flags().StringVar(&o.Server, "server", "", "URL of the API server for nodes (default that of the kubeconfig, or of the Service kubernetes)")
	return cmd
}
