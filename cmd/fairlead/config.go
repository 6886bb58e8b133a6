package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fairlead.dev/internal/configfile"
)

// invocationFlags are about one run of a command, and are no part of a configuration.
var invocationFlags = []string{"config", "detach", "help", "output", "parent-pid", "stdin"}

// registerConfig makes a command read a file with its other flags before it runs.
func registerConfig(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVar(path, "config", "", "file with flags: their names and values as YAML or JSON, with apiVersion "+configfile.APIVersion+" and kind "+configfile.Kind+"; flags on the command line replace those of the file")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return readConfig(cmd.Flags(), *path) }
}

func readConfig(flags *pflag.FlagSet, path string) error {
	if path == "" {
		return nil
	}
	if err := configfile.Read(path, flags, invocationFlags...); err != nil {
		return usageError{fmt.Errorf("--config: %w", err)}
	}
	return nil
}

func newConfig() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the configuration file of a control plane",
		Args:  unknownCommand,
		RunE:  func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newConfigView())
	return cmd
}

func newConfigView() *cobra.Command {
	view := newUp()
	view.Use = "view [flags of fairlead up]"
	view.Short = "Print a configuration file for fairlead up, with its flags and their defaults"
	view.Long = `Prints a file for fairlead up --config: the flags that are given, here and in the
file of --config, and all others as comments with their defaults. All flags of
fairlead up are accepted; it checks their values together when it starts.`
	view.Example = `  # A file to start from
  fairlead config view > fairlead.yaml

  # The file of these flags
  fairlead config view --nodes=10 --authorization-mode=RBAC

  # The values that a file and a flag set, for machines
  fairlead config view --config=fairlead.yaml --nodes=0 -o json`
	view.Flags().VisitAll(func(f *pflag.Flag) { f.Hidden = f.Name != "config" })
	output := view.Flags().Lookup("output")
	output.Hidden, output.Usage = false, "yaml or json (default yaml)"
	view.RunE = func(cmd *cobra.Command, _ []string) error {
		switch format := output.Value.String(); format {
		case "", "yaml":
			return configfile.WriteYAML(cmd.OutOrStdout(), cmd.Flags(), invocationFlags...)
		case "json":
			return configfile.WriteJSON(cmd.OutOrStdout(), cmd.Flags(), invocationFlags...)
		}
		return usageError{errors.New("-o " + output.Value.String() + ": want yaml or json")}
	}
	return view
}
