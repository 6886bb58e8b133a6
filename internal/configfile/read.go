package configfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"
)

// The type of the files.
const (
	APIVersion = "config.fairlead.dev/v1alpha1"
	Kind       = "ControlPlane"
)

// Read sets the flags that the file has and that are not set yet. invocation are flags that a file cannot have, since they are
// about one run of the command.
func Read(path string, set *pflag.FlagSet, invocation ...string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	fields, err := decode(text)
	if err == nil {
		err = checkType(fields)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	var errs []error
	for name, value := range fields {
		if name == "apiVersion" || name == "kind" || value == nil {
			continue
		}
		flag := set.Lookup(name)
		switch {
		case slices.Contains(invocation, name):
			errs = append(errs, fmt.Errorf("%s: %s: only a flag on the command line", path, name))
		case flag == nil:
			errs = append(errs, fmt.Errorf("%s: unknown field %q%s", path, name, similar(set, name)))
		case !flag.Changed:
			if err := assign(set, flag, value); err != nil {
				errs = append(errs, fmt.Errorf("%s: %s: %w", path, name, err))
			}
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// decode returns the fields of a file. Numbers keep their digits.
func decode(text []byte) (fields map[string]any, err error) {
	if text, err = yaml.YAMLToJSONStrict(text); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&fields); err != nil {
		return nil, errors.New("want a map of fields")
	}
	return fields, nil
}

func checkType(fields map[string]any) error {
	for _, c := range []struct{ field, want string }{{"apiVersion", APIVersion}, {"kind", Kind}} {
		if got, ok := fields[c.field].(string); !ok || got != c.want {
			return fmt.Errorf("%s: want %s", c.field, c.want)
		}
	}
	return nil
}

// similar returns a hint at a flag whose name has the same letters.
func similar(set *pflag.FlagSet, name string) (hint string) {
	letters := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "-", "")) }
	set.VisitAll(func(f *pflag.Flag) {
		if letters(f.Name) == letters(name) {
			hint = fmt.Sprintf("; is it %s?", f.Name)
		}
	})
	return hint
}

// assign sets a flag to a value of a file.
func assign(set *pflag.FlagSet, flag *pflag.Flag, value any) error {
	switch v := value.(type) {
	case []any:
		list := make([]string, len(v))
		for i, one := range v {
			text, err := scalar(one)
			if err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
			list[i] = text
		}
		return setList(set, flag, list)
	case map[string]any:
		return setMap(set, flag, v)
	}
	text, err := scalar(value)
	if err != nil {
		return err
	}
	return setText(set, flag, text)
}

// scalar returns the text of a string, a number or a boolean.
func scalar(value any) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	case bool:
		return fmt.Sprint(v), nil
	}
	return "", errors.New("want a string, a number or a boolean")
}
