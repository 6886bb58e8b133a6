package kubeapiserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/processors"
	"fairlead.dev/internal/versionflag"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Environment variables that run more than the API server.
const (
	controllersVariable = "FAIRLEAD_CONTROLLERS"
	nodesVariable       = "FAIRLEAD_NODES"
)

// Command returns the command line of kube-apiserver. It serves until its context ends.
func Command() *cobra.Command {
	var f flags
	var warnings []string
	cmd := &cobra.Command{
		Use:   "kube-apiserver",
		Short: "Serve the Kubernetes API by the command line of kube-apiserver",
		Long: `Serve the Kubernetes API by the command line of kube-apiserver, for test harnesses such as envtest.

FAIRLEAD_CONTROLLERS='*' and FAIRLEAD_NODES=3 in the environment run the
controllers, and the scheduler with simulated nodes, in the same process.`,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			log, err := f.shared.StartLog(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			for _, w := range warnings {
				log.Warn(w)
			}
			o, err := f.controlPlane(cmd.Context())
			if err != nil {
				return err
			}
			o.Log = log
			o.Flags = map[string]string{}
			cmd.Flags().VisitAll(func(flag *pflag.Flag) { o.Flags[flag.Name] = flag.Value.String() })
			if err := fromEnvironment(&o); err != nil {
				return err
			}
			return serve(cmd.Context(), o)
		},
	}
	f.register(cmd.Flags())
	registerOthers(cmd.Flags(), func(text string) { warnings = append(warnings, text) })
	versionflag.Add(cmd, "Kubernetes "+controlplane.KubernetesVersion)
	return cmd
}

// fromEnvironment sets what else runs.
func fromEnvironment(o *controlplane.Options) error {
	if list := os.Getenv(controllersVariable); list != "" {
		o.Controllers = strings.Split(list, ",")
		if err := controlplane.CheckControllers(o.Controllers); err != nil {
			return fmt.Errorf("%s: %w", controllersVariable, err)
		}
	}
	if text := os.Getenv(nodesVariable); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return fmt.Errorf("%s=%s: want a number of nodes", nodesVariable, text)
		}
		o.Nodes, o.Scheduler = n, n > 0
	}
	return nil
}

// serve runs the control plane until ctx ends.
func serve(ctx context.Context, o controlplane.Options) error {
	if o.DataDir == "" { // the store is in an etcd cluster
		dir, err := os.MkdirTemp("", "kube-apiserver-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.DataDir = dir
	}
	o.Queued = processors.New().Overloaded
	o.Warning = func(part, detail string) { o.Log.Warn(part + ": " + detail) }
	cp, err := controlplane.Start(ctx, o)
	if err != nil {
		return err
	}
	return errors.Join(cp.Wait(ctx), cp.Stop())
}
