package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"fairlead.dev/client"
	"fairlead.dev/internal/nodegroups"
)

func newNodesGroups() *cobra.Command {
	var from target
	var output string
	cmd := &cobra.Command{
		Use:   "groups",
		Short: "List the node groups of a running server",
		Long: `Groups lists the node groups of --node-groups. SIZE is the number of instances: nodes, and those
that are pending or failed. Pending ones are being created, or wait for stock. PRICE is that of all
nodes of the group for an hour.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkFormat(output); err != nil {
				return err
			}
			config, _, err := from.load()
			if err != nil {
				return err
			}
			c, err := client.New(config, client.Options{UserAgent: "fairlead-nodes-groups"})
			if err != nil {
				return err
			}
			ctx, stop := context.WithTimeout(cmd.Context(), requestTimeout)
			defer stop()
			groups, err := nodegroups.List(ctx, c)
			if err != nil {
				return err
			}
			if output != "" {
				return encode(cmd.OutOrStdout(), output, map[string]any{"nodeGroups": groups})
			}
			return printGroups(cmd.OutOrStdout(), groups)
		},
	}
	from.register(cmd, cmd.Flags())
	registerFormat(cmd, &output)
	return cmd
}

func printGroups(out io.Writer, groups []nodegroups.Status) error {
	w := tabwriter.NewWriter(out, 0, 8, 3, ' ', 0)
	fmt.Fprintln(w, "NAME\tMIN\tMAX\tSIZE\tNODES\tPENDING\tFAILED\tPRICE")
	for _, g := range groups {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%g\n", g.Name, g.Min, g.Max, g.Size, g.Nodes, g.Pending, g.Failed, g.PricePerHour)
	}
	return w.Flush()
}
