package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"fairlead.dev/internal/instance"
)

func newDown() *cobra.Command {
	var f instanceFlags
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "down [NAME]",
		Short: "Stop a server, by default the one of this directory",
		Long: `Down stops a server and returns when its process has ended. Its data stay, and fairlead up
starts it again. Of a server with --in-memory nothing stays, nor does its context in your
kubeconfig.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := f.find(args)
			if err != nil {
				return err
			}
			return down(cmd.Context(), newProgress(os.Stderr), in, timeout)
		},
	}
	f.register(cmd)
	registerStopTimeout(cmd, &timeout)
	return cmd
}

func registerStopTimeout(cmd *cobra.Command, timeout *time.Duration) {
	cmd.Flags().DurationVar(timeout, "timeout", 30*time.Second, "how long to wait for the end of the process")
}

// down stops an instance if it runs, and removes the files that one in memory has left.
func down(ctx context.Context, p *progress, in instance.Instance, timeout time.Duration) error {
	process, err := in.Connect()
	if errors.Is(err, instance.ErrStopped) {
		record, err := in.Record()
		switch {
		case err != nil:
			return err
		case record.InMemory: // it was killed
			return dismantle(p, in, "Removed")
		}
		p.step("Stopped", in.String()+" was not running")
		return nil
	}
	if err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err = process.Stop(bounded)
	if bounded.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("%s is still running after %v: wait, or end its process%s yourself", in, timeout, lastPID(in))
	}
	if err != nil {
		return err
	}
	p.step("Stopped", in.String())
	return nil
}

// lastPID returns the process ID of the last start, for a message.
func lastPID(in instance.Instance) string {
	if record, err := in.Record(); err == nil && record.PID != 0 {
		return fmt.Sprintf(" %d", record.PID)
	}
	return ""
}
