package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write docs/commands.md anew")

// TestCommandReference checks that docs/commands.md has all commands and flags, as the program describes them.
func TestCommandReference(t *testing.T) {
	const file = "../../docs/commands.md"
	var want strings.Builder
	want.WriteString("# Commands\n\nThis page is made from the program: `go test ./cmd/fairlead -run TestCommandReference -update`.\n" +
		"`fairlead COMMAND --help` prints the same. Exit codes: 0 success, 1 failure, 2 wrong usage.\n")
	root := newRoot()
	describe(&want, root)
	if *update {
		if err := os.WriteFile(file, []byte(want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), want.String()); diff != "" {
		t.Errorf("docs/commands.md is not that of the program; write it by -update:\n%s", diff)
	}
}

// describe writes the sections of a command and of those below it.
func describe(w *strings.Builder, cmd *cobra.Command) {
	if cmd.Hidden || cmd.Name() == "help" || cmd.HasParent() && cmd.Parent().Name() == "completion" {
		return
	}
	fmt.Fprintf(w, "\n## %s\n\n%s.\n", cmd.CommandPath(), cmd.Short)
	if cmd.Long != "" && cmd.HasParent() && cmd.Name() != "completion" {
		fmt.Fprintf(w, "\n```text\n%s\n```\n", cmd.Long)
	}
	if cmd.Runnable() && !cmd.HasSubCommands() || cmd.Name() == "nodes" {
		fmt.Fprintf(w, "\n    %s\n", cmd.UseLine())
	}
	if cmd.Example != "" {
		fmt.Fprintf(w, "\n```sh\n%s\n```\n", strings.TrimPrefix(strings.ReplaceAll(cmd.Example, "\n  ", "\n"), "  "))
	}
	describeFlags(w, cmd.NonInheritedFlags())
	for _, below := range cmd.Commands() {
		describe(w, below)
	}
}

// describeFlags writes a table of flags.
func describeFlags(w *strings.Builder, flags *pflag.FlagSet) {
	header := "\n| flag | default | |\n|---|---|---|\n"
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" || f.Name == "version" {
			return
		}
		w.WriteString(header)
		header = ""
		name := "`--" + f.Name + "`"
		if f.Shorthand != "" {
			name += ", `-" + f.Shorthand + "`"
		}
		value := f.DefValue
		if value != "" && value != "[]" {
			value = "`" + value + "`"
		} else {
			value = ""
		}
		fmt.Fprintf(w, "| %s | %s | %s |\n", name, value, strings.ReplaceAll(f.Usage, "|", "\\|"))
	})
}
