package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"
)

func newStatus() *cobra.Command {
	var f instanceFlags
	var output string
	cmd := &cobra.Command{
		Use:   "status [NAME]",
		Short: "Show the state of a server, by default the one of this directory",
		Long: `Status shows the state of a server. It exits with 0 if the server is running and ready, and with
1 if it is not.`,
		Example: `  fairlead status
  fairlead status shop -o json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkFormat(output); err != nil {
				return err
			}
			in, err := f.find(args)
			if err != nil {
				return err
			}
			info, err := probe(cmd.Context(), in)
			if err != nil {
				return err
			}
			if output != "" {
				err = encode(cmd.OutOrStdout(), output, info)
			} else {
				err = info.print(cmd.OutOrStdout())
			}
			switch {
			case err != nil:
				return err
			case info.State == stopped:
				return fmt.Errorf("%s is stopped: `fairlead up -d%s` starts it", in, upFlags(in))
			case !info.Ready:
				return fmt.Errorf("%s is not ready", in)
			}
			return nil
		},
	}
	f.register(cmd)
	registerFormat(cmd, &output)
	return cmd
}

// print writes the state for people, without lines of unknown values.
func (i *instanceInfo) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 8, 3, ' ', 0)
	line := func(what, value string) {
		if value != "" {
			fmt.Fprintf(w, "%s\t%s\n", what, value)
		}
	}
	line("Name", orDash(i.Name))
	line("State", i.stateText())
	line("Address", i.Server)
	line("Version", i.Version)
	if i.PID != 0 {
		line("Process", fmt.Sprint(i.PID))
	}
	if i.Nodes != nil {
		line("Nodes", i.nodes())
	}
	if i.Created != nil {
		line("Age", i.age())
	}
	data := i.DataDir
	if i.InMemory {
		data += ", objects in memory"
	}
	line("Data", data)
	line("Kubeconfig", i.Kubeconfig)
	if i.Context != "" {
		line("Context", i.Context+" in "+i.Merged)
	}
	line("Log", i.Log)
	return w.Flush()
}

func (i *instanceInfo) stateText() string {
	if i.State != running {
		return i.State
	}
	up := "running for " + duration.HumanDuration(time.Since(*i.Started))
	if !i.Ready {
		up += "; its API server is not ready"
	}
	return up
}
