//go:build linux

// Command realnode makes and removes clusters of real nodes on this machine: see package
// realnode. It runs in the module fairlead.dev/compat.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"text/tabwriter"
	"time"

	"fairlead.dev/compat/realnode"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "realnode:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	o := realnode.Options{Log: progress(time.Now())}
	root := &cobra.Command{Use: "realnode", Short: "Clusters of real nodes on this machine", SilenceUsage: true, SilenceErrors: true}
	root.PersistentFlags().StringVar(&o.Name, "name", "cluster", "name of the cluster")

	up := &cobra.Command{
		Use: "up", Short: "make a cluster; the first time takes minutes, for programs and images are built", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := realnode.Up(cmd.Context(), o)
			if err != nil {
				return err
			}
			o.Log("ready")
			fmt.Printf("export KUBECONFIG=%s\n", c.Kubeconfig)
			return nil
		},
	}
	up.Flags().IntVar(&o.Nodes, "nodes", 2, "real nodes")
	up.Flags().IntVar(&o.Spare, "spare", 0, "machines beside them that have not joined")
	up.Flags().IntVar(&o.Simulated, "simulated", 0, "simulated nodes beside them")

	down := &cobra.Command{
		Use: "down", Short: "remove the cluster, or what a crash left of it", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return realnode.Down(o.Name) },
	}
	status := &cobra.Command{
		Use: "status", Short: "show the machines and nodes", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return status(cmd.Context(), o.Name) },
	}
	inside := &cobra.Command{
		Use: "exec MACHINE PROGRAM [ARGUMENT...]", Short: "run a program in a machine: server, n1, n2", Args: cobra.MinimumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := realnode.Open(o.Name)
			if err != nil {
				return err
			}
			for _, m := range c.Machines() {
				if m.Name == args[0] {
					run := m.Command(args[1], args[2:]...)
					run.Stdin, run.Stdout, run.Stderr = os.Stdin, os.Stdout, os.Stderr
					err := run.Run()
					var exit *exec.ExitError
					if errors.As(err, &exit) {
						os.Exit(exit.ExitCode())
					}
					return err
				}
			}
			return fmt.Errorf("no machine %s", args[0])
		},
	}
	inside.Flags().SetInterspersed(false)
	root.AddCommand(up, down, status, inside)
	return root
}

// progress prints each step with its time.
func progress(start time.Time) realnode.Log {
	return func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, "%6.1f s  %s\n", time.Since(start).Seconds(), fmt.Sprintf(format, args...))
	}
}

func status(ctx context.Context, name string) error {
	c, err := realnode.Open(name)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "MACHINE\tPROCESSES\tROOT")
	for _, m := range c.Machines() {
		fmt.Fprintf(w, "%s\t%d\t%s\n", m.Name, len(m.Processes("fairlead", "containerd", "kubelet", "kube-proxy")), m.Root())
	}
	fmt.Fprintln(w, "\nNODE\tREADY\tVERSION")
	nodes, err := c.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range nodes.Items {
		n := &nodes.Items[i]
		fmt.Fprintf(w, "%s\t%s\t%s\n", n.Name, realnode.Ready(n), n.Status.NodeInfo.KubeletVersion)
	}
	fmt.Fprintf(w, "\nexport KUBECONFIG=%s\n", c.Kubeconfig)
	return w.Flush()
}
