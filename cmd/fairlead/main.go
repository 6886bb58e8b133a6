// Command fairlead is the Kubernetes control plane in one binary.
//
// It exits with 0 on success, 1 on failure, and 2 for a wrong command line. Progress and
// errors go to stderr, data to stdout.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/etcdstandin"
	"fairlead.dev/internal/kubeapiserver"
	"fairlead.dev/internal/partflags"
	"fairlead.dev/internal/versionflag"
	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
)

const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)   // a second signal ends the process at once
	klog.SetLogger(logr.Discard()) // the libraries' own log; important failures are returned as errors
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	os.Exit(run(ctx, program(os.Args[0]), os.Args[1:]))
}

// program returns the command line of a program by the name under which it was started: that of kube-apiserver and
// etcd in a folder that `fairlead assets` has made.
func program(path string) *cobra.Command {
	switch strings.TrimSuffix(filepath.Base(path), ".exe") {
	case "kube-apiserver":
		return withFlagErrors(kubeapiserver.Command())
	case "etcd":
		return withFlagErrors(etcdstandin.Command())
	}
	return newRoot()
}

func withFlagErrors(cmd *cobra.Command) *cobra.Command {
	cmd.SetFlagErrorFunc(flagError)
	return cmd
}

func run(ctx context.Context, root *cobra.Command, args []string) int {
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	if errors.As(err, &errRestart{}) {
		fmt.Fprintln(os.Stderr, root.Name()+": "+err.Error()+": restarting")
		err = fmt.Errorf("%w, and the process cannot restart itself: %w", err, restartProcess())
	}
	fmt.Fprintln(os.Stderr, root.Name()+": "+message(err))
	if errors.As(err, &usageError{}) || errors.As(err, &controlplane.OptionError{}) || errors.As(err, &partflags.UsageError{}) {
		fmt.Fprintf(os.Stderr, "See '%s --help'.\n", cmd.CommandPath())
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
		Example: `  # Start everything, with its data in ./.fairlead
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
	versionflag.Add(root, versions().String())
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newUp(), newConfig(), newKubeconfig(), newList(), newStatus(), newLogs(), newDown(), newReset(), newDelete(), newSave(), newLoad(), newSaves(), newPKI(), newServer(), newControllers(), newScheduler(), newNodes(), newEtcd(), newStore(), newTrace(), newWhy(), newTop(), newHistory(), newDiff(), newBlame(), newUndo(), newAudit(), newFault(), newClock(), newCluster(), newToken(), newJoin(), newAddon(), newUI(), newDemo(), newAssets(), newVersion())
	completeCommands(root)
	root.InitDefaultCompletionCmd()
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		completion.Args = unknownCommand
		completion.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	return root
}
