package configfile

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// setText sets a flag as the command line does.
func setText(set *pflag.FlagSet, flag *pflag.Flag, text string) error {
	if err := set.Set(flag.Name, text); err != nil {
		var invalid *pflag.InvalidValueError
		if errors.As(err, &invalid) {
			err = invalid.Unwrap()
		}
		return fmt.Errorf("%q: %w", text, err)
	}
	return nil
}

// setList sets a flag that takes several values.
func setList(set *pflag.FlagSet, flag *pflag.Flag, list []string) error {
	if values, ok := flag.Value.(pflag.SliceValue); ok {
		// Set marks the flag as set, in a way that each type accepts.
		if err := set.Set(flag.Name, commaSeparated(flag, list)); err != nil {
			return fmt.Errorf("%q: %w", list, err)
		}
		return values.Replace(list)
	}
	if flag.Value.Type() != "namedCertKey" || len(list) == 0 {
		return fmt.Errorf("a list: want a %s", flag.Value.Type())
	}
	for _, one := range list { // each adds a value
		if err := setText(set, flag, one); err != nil {
			return err
		}
	}
	return nil
}

// commaSeparated returns a list as one argument.
func commaSeparated(flag *pflag.Flag, list []string) string {
	if flag.Value.Type() == "stringArray" {
		return strings.Join(list, "\n") // one value, which Replace replaces
	}
	if len(list) == 0 {
		return ""
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	_ = w.Write(list) // a buffer takes all
	w.Flush()
	return strings.TrimSuffix(out.String(), "\n")
}

// setMap sets a flag that takes pairs as NAME=VALUE.
func setMap(set *pflag.FlagSet, flag *pflag.Flag, pairs map[string]any) error {
	if !isMap(flag) {
		return fmt.Errorf("a map: want a %s", flag.Value.Type())
	}
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		text, err := scalar(pairs[name])
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		pair := name + "=" + text
		if flag.Value.Type() == "stringToString" {
			pair = commaSeparated(flag, []string{pair})
		}
		if err := setText(set, flag, pair); err != nil {
			return err
		}
	}
	return nil
}

// mapTypes are the types of flags that take pairs, of which each Set adds some.
var mapTypes = []string{"stringToString", "mapStringString", "mapStringBool", "colonSeparatedMultimapStringString"}

func isMap(flag *pflag.Flag) bool { return slices.Contains(mapTypes, flag.Value.Type()) }
