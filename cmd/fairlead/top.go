package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"fairlead.dev/internal/client/top"
)

func newTop() *cobra.Command {
	var from target
	var namespace string
	cmd := &cobra.Command{
		Use:   "top",
		Short: "View a running server in the terminal: problems, objects, logs, and events as they happen",
		Long: `Top shows a running server on the whole terminal: what is not well, by root causes;
the objects of any kind as they change; one object with its explanation, YAML, Events
and logs; and events as they happen, with their lives and the trees of their causes.

"?" lists the keys. It writes nothing, except that it deletes an object after a
confirmation. It works with any Kubernetes API server; events need Fairlead's trace.`,
		Example: `  fairlead top
  fairlead top -n shop`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !onTerminal() {
				return usageError{errors.New("top needs a terminal; without one, follow what is not well by: fairlead why --watch")}
			}
			return showTop(cmd.Context(), &from, namespace)
		},
	}
	from.register(cmd, cmd.Flags())
	cmd.Flags().StringVarP(&namespace, "namespace", "n", "", "the namespace to browse first (default all)")
	return cmd
}

// onTerminal reports whether the program can draw on a terminal and read its keys.
func onTerminal() bool {
	return os.Getenv("TERM") != "dumb" && term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
}

func showTop(ctx context.Context, from *target, namespace string) error {
	c, _, err := connectTo(from)
	if err != nil {
		return err
	}
	kinds, err := c.ServerResources(ctx) // a server that does not answer is reported before the screen is taken
	if len(kinds) == 0 && err != nil {
		return err
	}
	base := c.REST().Address("/", nil)
	slog.SetDefault(slog.New(slog.DiscardHandler)) // its lines would be written over the screen, which reports outages itself
	return top.Run(ctx, top.Options{
		Client: c, Kinds: kinds, Namespace: namespace, Host: fmt.Sprintf("%s://%s", base.Scheme, base.Host), Describe: message,
	})
}
