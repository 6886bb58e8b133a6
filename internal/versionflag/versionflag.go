// Package versionflag gives commands the flag --version.
//
// # Contract
//
// cobra has such a flag of its own, which prints through text/template. A template may call any exported method by its name, so the
// linker then keeps the exported methods of every type: 13 MB of the program. The flag of this package prints without one.
package versionflag

import (
	"fmt"

	"github.com/spf13/cobra"
)

// Add gives a command that has a RunE the flags --version and, unless it is taken, -v, with which it prints a line in place of running.
// It is called once the command has its other flags.
func Add(cmd *cobra.Command, line string) {
	shorthand := "v"
	if cmd.Flags().ShorthandLookup(shorthand) != nil {
		shorthand = ""
	}
	print := cmd.Flags().BoolP("version", shorthand, false, "print the version")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *print {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), line)
			return err
		}
		return run(cmd, args)
	}
}
