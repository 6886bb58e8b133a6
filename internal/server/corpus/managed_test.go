package corpus_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// printManaged formats a managed fields entry on one line.
func printManaged(e tree) string {
	words := []string{"managed", fmt.Sprint(e["operation"]), fmt.Sprintf("%q", e["manager"]), fmt.Sprint(e["apiVersion"])}
	if sub := e["subresource"]; sub != nil {
		words = append(words, "/"+fmt.Sprint(sub))
	}
	if e["time"] == nil {
		words = append(words, "(no time)")
	}
	set, _ := e["fieldsV1"].(tree)
	return strings.Join(append(words, printSet(set)), " ")
}

// printSet formats a field set: a{b,c} stands for a.b and a.c, a! for a itself beside its children; list elements
// are in brackets.
func printSet(set tree) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(set)) {
		below, _ := set[k].(tree)
		if k == "." {
			continue
		}
		name := k[2:]
		if !strings.HasPrefix(k, "f:") {
			name = "[" + strings.Trim(name, "{}") + "]"
		}
		if _, itself := below["."]; itself {
			name += "!"
		}
		if len(below) > 1 || len(below) == 1 && below["."] == nil {
			name += "{" + printSet(below) + "}"
		}
		parts = append(parts, name)
	}
	return strings.Join(parts, ",")
}
