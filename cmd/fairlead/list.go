package main

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"

	"fairlead.dev/internal/instance"
)

func newList() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List your servers, running or stopped",
		Long: `List shows all servers that you have started with fairlead up, except those of tests, which
end with their test. AGE is the time since the first start.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkFormat(output); err != nil {
				return err
			}
			all, err := instance.List()
			if err != nil {
				return err
			}
			infos, err := probeAll(cmd.Context(), all)
			if err != nil {
				return err
			}
			if output != "" {
				return encode(cmd.OutOrStdout(), output, map[string]any{"instances": infos})
			}
			return printInstances(cmd.OutOrStdout(), infos)
		},
	}
	registerFormat(cmd, &output)
	return cmd
}

// registerFormat adds the flag of a format, which checkFormat checks.
func registerFormat(cmd *cobra.Command, output *string) {
	cmd.Flags().StringVarP(output, "output", "o", "", "output format: json or yaml")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]cobra.Completion{"json", "yaml"}, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
}

func checkFormat(output string) error {
	if output != "" && output != "json" && output != "yaml" {
		return usageError{fmt.Errorf("-o %s: want json or yaml", output)}
	}
	return nil
}

func printInstances(out io.Writer, infos []instanceInfo) error {
	w := tabwriter.NewWriter(out, 0, 8, 3, ' ', 0)
	fmt.Fprintln(w, "NAME\tSTATE\tADDRESS\tVERSION\tNODES\tAGE\tDATA")
	for _, i := range infos {
		data := i.DataDir
		if i.InMemory {
			data += " (in memory)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", orDash(i.Name), i.State, orDash(i.Server), orDash(i.Version), i.nodes(), i.age(), data)
	}
	return w.Flush()
}

func (i *instanceInfo) nodes() string {
	if i.Nodes == nil {
		return "-"
	}
	return strconv.FormatInt(*i.Nodes, 10)
}

func (i *instanceInfo) age() string {
	if i.Created == nil {
		return "-"
	}
	return duration.HumanDuration(time.Since(*i.Created))
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
