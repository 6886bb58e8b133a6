package corpus_test

import (
	"fmt"
	"regexp"
	"strings"
)

// names maps values that differ from run to run to the names used in a case's answers.
type names struct {
	ns, run string
	known   map[string]string // by value
	counts  map[string]int    // by the kind of value
}

// name returns the name of a value: its kind and a number.
func (n *names) name(kind, value string) string {
	if n.known == nil {
		n.known, n.counts = map[string]string{}, map[string]int{}
	}
	if _, ok := n.known[value]; !ok {
		n.counts[kind]++
		n.known[value] = fmt.Sprintf("<%s%d>", kind, n.counts[kind])
	}
	return n.known[value]
}

// changing finds values by their format. Group 1 is the part to replace.
var changing = []struct {
	kind string
	find *regexp.Regexp
}{
	{"uid", regexp.MustCompile(`([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})`)},
	{"ip", regexp.MustCompile(`\b(10\.(?:9[6-9]|10\d|11[01])\.\d+\.\d+)\b`)},
	{"port", regexp.MustCompile(`(?i:nodePort"?): ?(3[0-2]\d\d\d)\b`)},
	{"port", regexp.MustCompile(`:(3[0-2]\d\d\d)/`)},
	{"etag", regexp.MustCompile(`(?i:etag): ((?:W/)?"?[0-9A-F]{64,128}"?)`)},
	{"suffix", regexp.MustCompile(`kube-api-access-([0-9a-z]{5})\b`)},
	{"suffix", regexp.MustCompile(`[Mm]ade-([0-9a-z]{5})\b`)},
}

var words = []struct {
	find *regexp.Regexp
	put  string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "<time>"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? \+0000 UTC( m=\S+)?`), "<time>"},
	{regexp.MustCompile(`(resourceVersion\\":\\")\d+`), "${1}<revision>"},
	{regexp.MustCompile(`selfType\d+`), "selfType<n>"},
	{regexp.MustCompile(`eyJ[\w-]+\.[\w-]+\.[\w-]+`), "<token>"},
}

// plain replaces values that are recognized by their format.
func (n *names) plain(s string) string {
	for _, c := range changing {
		s = c.find.ReplaceAllStringFunc(s, func(match string) string {
			value := c.find.FindStringSubmatch(match)[1]
			return strings.Replace(match, value, n.name(c.kind, value), 1)
		})
	}
	for _, w := range words {
		s = w.find.ReplaceAllString(s, w.put)
	}
	return strings.NewReplacer(n.ns, "$ns", n.run, "$run").Replace(s)
}
