package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/instance"
)

func newReset() *cobra.Command {
	var f instanceFlags
	var timeout time.Duration
	var yes bool
	cmd := &cobra.Command{
		Use:   "reset [NAME]",
		Short: "Remove all objects of a server, which keeps its address, certificates and kubeconfig",
		Long: `Reset removes all objects of a server, running or stopped, as if it had just been started for
the first time. Its address, certificates and kubeconfig stay, so that clients go on:
their watches end, and they list again.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := f.find(args)
			if err != nil {
				return err
			}
			if err := confirm(yes, "Remove all objects of "+in.String()+"?"); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			if err := reset(ctx, in); err != nil {
				return err
			}
			newProgress(os.Stderr).step("Reset", in.String())
			return nil
		},
	}
	f.register(cmd)
	registerYes(cmd, &yes)
	registerTimeout(cmd, &timeout)
	return cmd
}

// registerTimeout adds the flag of commands that wait for a server.
func registerTimeout(cmd *cobra.Command, timeout *time.Duration) {
	cmd.Flags().DurationVar(timeout, "timeout", time.Minute, "how long to wait for the server")
}

// reset removes all objects of an instance, running or stopped.
func reset(ctx context.Context, in instance.Instance) error {
	process, err := in.Connect()
	if err == nil {
		return process.Reset(ctx)
	}
	if !errors.Is(err, instance.ErrStopped) {
		return err
	}
	return withStopped(in, func() error {
		last, err := controlplane.StoredState(ctx, in.DataDir, nil)
		if err != nil {
			return err
		}
		return last.Emptied().Replace(in.DataDir, nil)
	})
}

// withStopped calls a function that has a stopped instance for itself.
func withStopped(in instance.Instance, do func() error) error {
	held, err := in.Hold()
	if err != nil {
		return inUse(in, err)
	}
	record, err := in.Record()
	if err == nil && len(record.Etcd) > 0 {
		err = controlplane.ErrInEtcd
	}
	if err == nil {
		err = do()
	}
	return errors.Join(err, held.Close(true))
}
