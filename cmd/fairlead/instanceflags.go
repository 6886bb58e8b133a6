package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fairlead.dev/internal/instance"
)

const (
	// defaultDataDir is the data directory of an instance without a name.
	defaultDataDir = ".fairlead"
	// nameVariable is the environment variable with the default of --name.
	nameVariable = "FAIRLEAD_NAME"
)

// instanceFlags select an instance: by the name that is the only argument, by a directory, or by FAIRLEAD_NAME. By default it
// is the one in this directory.
type instanceFlags struct{ dataDir string }

// register adds the flags, and the completion of the argument.
func (f *instanceFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dataDir, "data-dir", "", "data directory of a server without a name (default that of FAIRLEAD_NAME, else "+defaultDataDir+")")
	cmd.ValidArgsFunction = completeInstance
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usageError{fmt.Errorf("%s takes the name of one server, or none for that of this directory", cmd.CommandPath())}
		}
		return nil
	}
}

// find returns the selected instance, which exists.
func (f *instanceFlags) find(args []string) (instance.Instance, error) {
	in, err := f.instance(args)
	if err == nil && !in.Exists() {
		err = errNoInstance(in)
	}
	return in, err
}

func (f *instanceFlags) instance(args []string) (instance.Instance, error) {
	switch {
	case len(args) > 0 && f.dataDir != "":
		return instance.Instance{}, usageError{errors.New("a name and --data-dir exclude each other")}
	case len(args) > 0:
		return namedInstance(args[0])
	case f.dataDir != "":
		return instance.At(f.dataDir)
	case os.Getenv(nameVariable) != "":
		return namedInstance(os.Getenv(nameVariable))
	}
	return instance.At(defaultDataDir)
}

// namedInstance returns the instance of a name from the command line.
func namedInstance(name string) (instance.Instance, error) {
	in, err := instance.Named(name)
	if err != nil && !errors.Is(err, instance.ErrNoHome) {
		err = usageError{err}
	}
	return in, err
}

// errNoInstance is the error of an instance that does not exist.
func errNoInstance(in instance.Instance) error {
	if in.Name == "" {
		return fmt.Errorf("no server has its data in %s: start one with `fairlead up -d%s`, or choose one of `fairlead list`", in.DataDir, upFlags(in))
	}
	return fmt.Errorf("there is no server %q: `fairlead list` shows all, `fairlead up -d --name=%s` starts it", in.Name, in.Name)
}

// selection returns the arguments that select an instance in commands such as down.
func selection(in instance.Instance) string {
	if in.Name != "" {
		return " " + in.Name
	}
	return upFlags(in)
}

// upFlags returns the flags that select an instance in `up`.
func upFlags(in instance.Instance) string {
	if in.Name != "" {
		return nameFlag(in.Name)
	}
	if here, err := instance.At(defaultDataDir); err == nil && here == in {
		return ""
	}
	return " --data-dir=" + shellQuote(in.DataDir)
}

// nameFlag returns the flag for a name; "" without a name.
func nameFlag(name string) string {
	if name == "" {
		return ""
	}
	return " --name=" + name
}

// registerName adds the flag of a name, with completion.
func registerName(cmd *cobra.Command, flags *pflag.FlagSet, name *string, usage string) {
	flags.StringVar(name, "name", "", usage)
	_ = cmd.RegisterFlagCompletionFunc("name", completeName) // the flag exists
}

// completeInstance completes the name of an instance, as the only argument.
func completeInstance(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completeName(cmd, args, prefix)
}

// completeName completes the name of an instance.
func completeName(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	all, err := instance.List()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError | cobra.ShellCompDirectiveNoFileComp
	}
	var names []cobra.Completion
	for _, in := range all {
		if in.Name != "" {
			names = append(names, in.Name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// formerAddress returns the loopback address at which an instance has served before, "" without one.
func formerAddress(in instance.Instance) string {
	record, err := in.Record()
	if err != nil {
		return ""
	}
	at, err := url.Parse(record.Server)
	if err != nil || at.Hostname() != "127.0.0.1" {
		return ""
	}
	return at.Host
}
