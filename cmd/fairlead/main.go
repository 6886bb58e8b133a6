// Command fairlead is the Kubernetes control plane in one binary.
//
// It exits with 0 when it has done what was asked, 1 when it could not, and 2
// when it was asked wrongly. Progress and errors go to stderr, data to stdout.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	_ "fairlead.dev/internal/lean" // the program is to be small
)

const (
	exitFailed = 1
	exitUsage  = 2
)

// usageError is a command line that makes no sense.
type usageError struct{ error }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	klog.SetLogger(logr.Discard()) // libraries' own; what matters comes as errors
	os.Exit(run(ctx, os.Args[1:]))
}

func run(ctx context.Context, args []string) int {
	root := newRoot()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "fairlead: "+err.Error())
	if usage := (usageError{}); errors.As(err, &usage) {
		fmt.Fprintln(os.Stderr, "See 'fairlead --help'.")
		return exitUsage
	}
	return exitFailed
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "fairlead",
		Short: "The Kubernetes control plane in one binary",
		Long: `Fairlead is the Kubernetes control plane in one binary: store, API server,
controllers, scheduler and simulated nodes, ready at once. Any kubectl and any
client library for Kubernetes talk to it unchanged.`,
		Example: `  # Start everything, here
  fairlead up

  # In another terminal
  export KUBECONFIG=.fairlead/kubeconfig
  kubectl create deployment web --image=nginx --replicas=3
  kubectl get pods --watch`,
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, args []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(newUp(), newServer(), newControllers(), newScheduler(), newNodes(), newEtcd(), newStore(), newTrace(), newWhy(), newFault(), newUI(), newDemo(), newVersion())
	root.InitDefaultCompletionCmd()
	return root
}

func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("unknown command %q", args[0])}
	}
	return nil
}

// noArgs is for commands that take flags only.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("%s takes no arguments, not %q", cmd.CommandPath(), args)}
	}
	return nil
}
