package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// usageError is a command line that the program does not understand.
type usageError struct{ error }

// typos is the Levenshtein distance up to which a name is suggested in place of another.
const typos = 2

// maxShort is the length of words that have one typo at most: more would resemble all other short words.
const maxShort = 4

// unknownCommand refuses arguments to a command that only has subcommands.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = typos
	if len(args[0]) <= maxShort {
		cmd.SuggestionsMinimumDistance = 1
	}
	return usageError{fmt.Errorf("unknown command %q%s", args[0], didYouMean(cmd.SuggestionsFor(args[0])))}
}

// noArgs refuses arguments to a command that takes flags only.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("%s takes no arguments, not %q", cmd.CommandPath(), args)}
	}
	return nil
}

// flagError words an error of the flag parser: a flag that does not exist gets the
// flags that resemble it, and a wrong value the form that the flag wants.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		return usageError{fmt.Errorf("%w%s", err, didYouMean(similarFlags(cmd, unknown.GetSpecifiedName())))}
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		want := expectedValue(invalid.GetFlag().Value.Type())
		if want == "" {
			want = invalid.Unwrap().Error()
		}
		return usageError{fmt.Errorf("--%s=%s: %s", invalid.GetFlag().Name, invalid.GetValue(), want)}
	}
	return usageError{err}
}

// expectedValue describes the values of pflag's own types; it returns "" for other types,
// whose errors describe them.
func expectedValue(valueType string) string {
	switch valueType {
	case "bool":
		return "want true or false"
	case "int", "int64":
		return "want a whole number"
	case "duration":
		return "want a duration, such as 30s or 5m"
	case "stringToString":
		return "want key=value pairs, separated by commas"
	}
	return ""
}

// similarFlags lists the flags of cmd whose names resemble name. Cobra compares the names
// of commands only, so the flags are handed to it as commands.
func similarFlags(cmd *cobra.Command, name string) []string {
	names := &cobra.Command{SuggestionsMinimumDistance: typos}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	similar := names.SuggestionsFor(name)
	for i := range similar {
		similar[i] = "--" + similar[i]
	}
	return similar
}

// didYouMean formats suggestions for a message; "" without suggestions.
func didYouMean(suggestions []string) string {
	if len(suggestions) == 0 {
		return ""
	}
	return ": did you mean " + strings.Join(suggestions, " or ") + "?"
}
