package configfile

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
	"sigs.k8s.io/yaml"
)

// WriteYAML writes the flags that are set as a file, and the others, with their defaults, as comments. invocation are flags that
// a file cannot have.
func WriteYAML(w io.Writer, set *pflag.FlagSet, invocation ...string) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "apiVersion: %s\nkind: %s\n", APIVersion, Kind)
	var err error
	set.VisitAll(func(flag *pflag.Flag) {
		if flag.Deprecated != "" || slices.Contains(invocation, flag.Name) {
			return
		}
		field, failed := yaml.Marshal(map[string]any{flag.Name: valueOf(flag)})
		if failed != nil {
			err = failed
		}
		fmt.Fprintf(&out, "\n# %s\n", flag.Usage)
		for line := range strings.Lines(string(field)) {
			if !flag.Changed {
				out.WriteString("#")
			}
			out.WriteString(line)
		}
	})
	if err != nil {
		return err
	}
	_, err = w.Write(out.Bytes())
	return err
}

// WriteJSON writes the flags that are set as a file.
func WriteJSON(w io.Writer, set *pflag.FlagSet, invocation ...string) error {
	fields := map[string]any{"apiVersion": APIVersion, "kind": Kind}
	set.Visit(func(flag *pflag.Flag) {
		if !slices.Contains(invocation, flag.Name) {
			fields[flag.Name] = valueOf(flag)
		}
	})
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(fields)
}

// valueOf returns a flag's value in the form of a file.
func valueOf(flag *pflag.Flag) any {
	text := flag.Value.String()
	switch flag.Value.Type() {
	case "bool":
		return text == "true"
	case "int", "int64", "float32":
		return json.Number(text)
	case "int32Slice":
		numbers := []json.Number{}
		for _, one := range flag.Value.(pflag.SliceValue).GetSlice() {
			numbers = append(numbers, json.Number(one))
		}
		return numbers
	case "namedCertKey":
		return split(strings.Trim(text, "[]"), ";")
	}
	switch v := flag.Value.(type) {
	case pflag.SliceValue:
		return append([]string{}, v.GetSlice()...)
	case *cliflag.MapStringString:
		if v.Map == nil || *v.Map == nil {
			return map[string]string{}
		}
		return *v.Map
	}
	if isMap(flag) {
		return pairsOf(strings.Trim(text, "[]"))
	}
	return text
}

// pairsOf returns NAME=VALUE,NAME=VALUE as a map.
func pairsOf(text string) map[string]string {
	pairs := map[string]string{}
	all, _ := csv.NewReader(strings.NewReader(text)).Read() // io.EOF without pairs
	for _, pair := range all {
		name, value, _ := strings.Cut(pair, "=")
		pairs[strings.TrimPrefix(name, ":")] = value // feature gates have the name of a component, which may be empty
	}
	return pairs
}

func split(text, separator string) []string {
	if text == "" {
		return []string{}
	}
	return strings.Split(text, separator)
}
