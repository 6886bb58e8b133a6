package main

import (
	"context"
	"slices"
	"time"

	"fairlead.dev/internal/clusters"
	"github.com/spf13/cobra"
)

// completionTimeout is how long the shell's user waits for names from a server that does not answer.
const completionTimeout = 3 * time.Second

// completeOne completes the name of a cluster, as the only argument.
func (f *clusterFlags) completeOne(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return f.completeMany(cmd, args, "")
}

// completeMany completes names of clusters that are not among the arguments yet.
func (f *clusterFlags) completeMany(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	f.timeout = min(f.timeout, completionTimeout)
	var names []cobra.Completion
	err := f.do(cmd, func(ctx context.Context, c *clusters.Client) error {
		list, err := c.List(ctx)
		for _, object := range list {
			if !slices.Contains(args, object.Name) {
				names = append(names, object.Name)
			}
		}
		return err
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError | cobra.ShellCompDirectiveNoFileComp
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeOrigin completes the cluster of --from.
func (f *clusterFlags) completeOrigin(cmd *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return f.completeMany(cmd, nil, prefix)
}
