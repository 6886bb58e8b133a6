package openapi

import (
	_ "embed"
	"encoding/json"
	"strings"
)

//go:embed facts.txt
var factsText string

// facts is the content of facts.txt; keys are "package.Type" and "package.Type.field".
type facts struct {
	atomic map[string]bool
	enums  map[string][]string
	unions map[string]string // the discriminator, if there is one
	fields map[string]fieldFacts
}

type fieldFacts struct {
	merge              string // "", "atomic", "set" or "map"
	keys               []string
	optional, required bool
	def                json.RawMessage
}

// readFacts parses facts.txt. It runs once per document: parsing is quick, and the facts are not needed in between.
func readFacts() *facts {
	f := &facts{atomic: map[string]bool{}, enums: map[string][]string{}, unions: map[string]string{}, fields: map[string]fieldFacts{}}
	pkg := ""
	for line := range strings.Lines(factsText) {
		line = strings.TrimSuffix(line, "\n")
		subject, rest, _ := strings.Cut(line, " ")
		switch {
		case strings.HasPrefix(line, "#") || line == "":
		case subject == "pkg":
			pkg = rest + "."
		case rest == "atomic" && !strings.Contains(subject, "."):
			f.atomic[pkg+subject] = true
		case (rest == "union" || strings.HasPrefix(rest, "union ")) && !strings.Contains(subject, "."):
			_, f.unions[pkg+subject], _ = strings.Cut(rest, " ")
		case strings.HasPrefix(rest, "enum "):
			f.enums[pkg+subject] = quoted(rest[len("enum "):])
		default:
			f.fields[pkg+subject] = parseField(rest)
		}
	}
	return f
}

// quoted parses a list of quoted words.
func quoted(s string) (list []string) {
	dec := json.NewDecoder(strings.NewReader(s))
	for {
		var word string
		if dec.Decode(&word) != nil {
			return list
		}
		list = append(list, word)
	}
}

func parseField(rest string) (f fieldFacts) {
	for rest != "" {
		if def, ok := strings.CutPrefix(rest, "default="); ok { // always last, may contain spaces
			f.def = json.RawMessage(def)
			return f
		}
		word, after, _ := strings.Cut(rest, " ")
		switch {
		case word == "optional":
			f.optional = true
		case word == "required":
			f.required = true
		case strings.HasPrefix(word, "map="):
			f.merge, f.keys = "map", strings.Split(word[len("map="):], ",")
		default:
			f.merge = word
		}
		rest = after
	}
	return f
}
