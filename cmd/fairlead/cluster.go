package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"fairlead.dev/internal/clusters"
	"fairlead.dev/internal/controlplane"
)

// clusterFlags are the common flags of `cluster`'s commands.
type clusterFlags struct {
	target  target
	output  string
	timeout time.Duration
	// connect returns a client of the server, and print writes clusters; nil for the server of target and the format
	// of output.
	connect func(context.Context) (*clusters.Client, error)
	print   func(ctx context.Context, c *clusters.Client, all ...*clusters.Cluster) error
}

func newCluster() *cobra.Command {
	var f clusterFlags
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Create, fork, reset and delete control planes in a server",
		Long: `Cluster manages the control planes that a server hosts, one for each object of the
kind Cluster (clusters.fairlead.dev). The server was started with --clusters. Each control
plane has an address below the server's, /clusters/NAME, and its own users, roles,
controllers and nodes. They are in memory, and end with the server.`,
		Example: `  fairlead up --clusters

  # An empty control plane, and kubectl with it
  fairlead cluster create base
  fairlead cluster kubeconfig base > base.kubeconfig
  kubectl --kubeconfig=base.kubeconfig apply -f fixtures/

  # A copy of it for each test, and back to the first state
  fairlead cluster fork one --from=base
  fairlead cluster reset one
  fairlead cluster delete one`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	f.target.register(cmd, cmd.PersistentFlags())
	cmd.PersistentFlags().StringVarP(&f.output, "output", "o", "", "output format: json or yaml")
	f.addCommands(cmd)
	cmd.AddCommand(newClusterKubeconfig(&f))
	return cmd
}

// addCommands adds the commands that `up --stdin` takes, too.
func (f *clusterFlags) addCommands(cmd *cobra.Command) {
	cmd.PersistentFlags().DurationVar(&f.timeout, "timeout", time.Minute, "how long to wait for the server")
	cmd.AddCommand(newClusterCreate(f), newClusterFork(f), newClusterReset(f), newClusterDelete(f), newClusterList(f))
}

func newClusterCreate(f *clusterFlags) *cobra.Command {
	var controllers []string
	var scheduler bool
	var nodes int
	var storage string
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Start an empty control plane", Args: oneCluster,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := controlplane.CheckControllers(controllers); err != nil {
				return usageError{err}
			}
			if nodes < 0 {
				return usageError{fmt.Errorf("--nodes=%d: want 0 or more", nodes)}
			}
			spec := clusters.Spec{Controllers: controllers, Scheduler: &scheduler, Nodes: &nodes}
			return f.start(cmd, args[0], spec, storage)
		},
	}
	registerControllers(cmd.Flags(), &controllers)
	cmd.Flags().BoolVar(&scheduler, "scheduler", true, "run the scheduler")
	cmd.Flags().IntVar(&nodes, "nodes", 3, "number of simulated nodes; 0 for none")
	registerStorage(cmd, &storage)
	return cmd
}

func newClusterFork(f *clusterFlags) *cobra.Command {
	var from clusters.Origin
	var storage string
	var redirects map[string]string
	cmd := &cobra.Command{
		Use: "fork NAME", Short: "Start a control plane with the state of another one",
		Long: `Fork starts a control plane that begins with the objects of another one, with the same
UIDs and resource versions. From then on neither sees the other's changes. Users and tokens of the origin are good
for the fork, too; those that the fork issues are good for it alone.`,
		Args: oneCluster,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.start(cmd, args[0], clusters.Spec{From: &from, Redirects: redirects}, storage)
		},
	}
	cmd.Flags().StringVar(&from.Cluster, "from", "", "the cluster to fork (default the server's own control plane)")
	cmd.Flags().StringVar(&from.Revision, "at", "", "the resource version at which the fork begins, within the last five minutes, or at which the cluster began (default the current one)")
	cmd.Flags().StringToStringVar(&redirects, "redirect", nil, "where webhooks are called in place of an address in their configurations, such as 127.0.0.1:9443=127.0.0.1:9444")
	cmd.RegisterFlagCompletionFunc("from", f.completeOrigin)
	registerStorage(cmd, &storage)
	return cmd
}

func registerStorage(cmd *cobra.Command, storage *string) {
	cmd.Flags().StringVar(storage, "storage", "", "limit of the size of all objects, such as 64Mi (default none)")
}

func newClusterReset(f *clusterFlags) *cobra.Command {
	return &cobra.Command{
		Use: "reset NAME", Short: "Bring a control plane back to the state in which it began", Args: oneCluster,
		ValidArgsFunction: f.completeOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.do(cmd, func(ctx context.Context, c *clusters.Client) error {
				object, err := c.Reset(ctx, args[0])
				if err != nil {
					return err
				}
				return f.one(ctx, cmd.OutOrStdout(), c, object)
			})
		},
	}
}

func newClusterDelete(f *clusterFlags) *cobra.Command {
	return &cobra.Command{
		Use: "delete NAME...", Short: "End control planes",
		ValidArgsFunction: f.completeMany,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New("cluster delete takes names of clusters")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.do(cmd, func(ctx context.Context, c *clusters.Client) error {
				for _, name := range args {
					if err := c.Delete(ctx, name); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

func newClusterList(f *clusterFlags) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the control planes of a server", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.do(cmd, func(ctx context.Context, c *clusters.Client) error {
				list, err := c.List(ctx)
				if err != nil {
					return err
				}
				if f.print != nil {
					return f.print(ctx, c, list...)
				}
				whole := clusters.ClusterList{Items: []clusters.Cluster{}}
				whole.APIVersion, whole.Kind = clusters.GroupVersion.String(), "ClusterList"
				for _, object := range list {
					whole.Items = append(whole.Items, *object)
				}
				return f.show(cmd.OutOrStdout(), whole, list...)
			})
		},
	}
}

func newClusterKubeconfig(f *clusterFlags) *cobra.Command {
	return &cobra.Command{
		Use: "kubeconfig NAME", Short: "Print the kubeconfig of a control plane", Args: oneCluster,
		ValidArgsFunction: f.completeOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.do(cmd, func(ctx context.Context, c *clusters.Client) error {
				text, err := c.Kubeconfig(ctx, args[0])
				if err != nil {
					return err
				}
				_, err = cmd.OutOrStdout().Write(text)
				return err
			})
		},
	}
}

// oneCluster demands the name of a cluster.
func oneCluster(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usageError{fmt.Errorf("%s takes the name of a cluster", cmd.CommandPath())}
	}
	return nil
}

// do calls a function with a client of the server.
func (f *clusterFlags) do(cmd *cobra.Command, call func(context.Context, *clusters.Client) error) error {
	if f.output != "" && f.output != "json" && f.output != "yaml" {
		return usageError{fmt.Errorf("-o %s: want json or yaml", f.output)}
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), f.timeout)
	defer cancel()
	connect := f.connect
	if connect == nil {
		connect = f.fromKubeconfig
	}
	c, err := connect(ctx)
	if err != nil {
		return err
	}
	return call(ctx, c)
}

func (f *clusterFlags) fromKubeconfig(ctx context.Context) (*clusters.Client, error) {
	config, _, err := f.target.load()
	if err != nil {
		return nil, err
	}
	return clusters.NewClient(ctx, config)
}

// start creates a Cluster, with a limit of its storage if that is not "".
func (f *clusterFlags) start(cmd *cobra.Command, name string, spec clusters.Spec, storage string) error {
	if storage != "" {
		limit, err := resource.ParseQuantity(storage)
		if err != nil || limit.Sign() <= 0 {
			return usageError{fmt.Errorf("--storage=%s: want bytes, such as 64Mi", storage)}
		}
		spec.Storage = &limit
	}
	return f.do(cmd, func(ctx context.Context, c *clusters.Client) error {
		object, err := c.Create(ctx, &clusters.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec})
		if err != nil {
			return err
		}
		return f.one(ctx, cmd.OutOrStdout(), c, object)
	})
}

// one writes a cluster.
func (f *clusterFlags) one(ctx context.Context, out io.Writer, c *clusters.Client, object *clusters.Cluster) error {
	if f.print != nil {
		return f.print(ctx, c, object)
	}
	return f.show(out, object, object)
}

// show writes clusters for machines, as whole, or for people.
func (f *clusterFlags) show(out io.Writer, whole any, all ...*clusters.Cluster) error {
	if f.output != "" {
		return encode(out, f.output, whole)
	}
	w := tabwriter.NewWriter(out, 0, 8, 3, ' ', 0)
	fmt.Fprintln(w, "NAME\tREADY\tFROM\tREVISION\tAGE\tURL")
	for _, c := range all {
		from := "-"
		if o := c.Spec.From; o != nil {
			from = o.Cluster
			if from == "" {
				from = "(server)"
			}
		}
		ready := "Unknown"
		if r := meta.FindStatusCondition(c.Status.Conditions, clusters.Ready); r != nil {
			ready = string(r.Status)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", c.Name, ready, from, c.Status.Revision, duration.HumanDuration(time.Since(c.CreationTimestamp.Time)), c.Status.URL)
	}
	return w.Flush()
}
