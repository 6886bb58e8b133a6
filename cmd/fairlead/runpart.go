package main

import (
	"context"
	"os"
	"time"

	"fairlead.dev/client"
	"fairlead.dev/internal/logflags"
	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
)

// connectInterval is the pause between two attempts to reach an API server that does not answer.
const connectInterval = time.Second

// runPart runs a part of the control plane against the API server of config until a signal
// comes. It waits for the server first.
func runPart(cmd *cobra.Command, name string, config *rest.Config, log *logflags.Flags, part func(ctx context.Context) error) error {
	if _, err := log.Start(os.Stderr); err != nil {
		return usageError{err}
	}
	p := newProgress(os.Stderr)
	if err := awaitServer(cmd.Context(), config); err != nil {
		if cmd.Context().Err() != nil {
			return nil
		}
		return err
	}
	p.step(name, "running against "+config.Host+"; Ctrl-C stops it")
	if err := part(cmd.Context()); err != nil && cmd.Context().Err() == nil {
		return err
	}
	return nil
}

// awaitServer returns when the API server answers a request for its version; until then, the
// client logs that it does not. An answer that refuses the request, such as 401, is an error.
func awaitServer(ctx context.Context, config *rest.Config) error {
	c, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	for {
		_, err := c.REST().Do(ctx, client.Request{Path: "/version"})
		if !client.IsUnreachable(err) {
			return err
		}
		select {
		case <-time.After(connectInterval):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
