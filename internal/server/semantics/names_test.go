package semantics_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// names maps values that differ from run to run to the transcript's names for them.
type names struct {
	ns, run string
	// of has the name of each object's revision, saved the names of kept values.
	of, saved map[string]string
	newest    int64
}

// object returns the name of an object's revision, a new one if it is unknown.
func (n *names) object(rev string) string {
	if _, ok := n.of[rev]; !ok {
		n.of[rev] = fmt.Sprint("r", len(n.of)+1)
		if i, err := strconv.ParseInt(rev, 10, 64); err == nil {
			n.newest = max(n.newest, i)
		}
	}
	return n.of[rev]
}

// list returns the name of the revision of a list or a bookmark.
func (n *names) list(rev string, certain bool) string {
	i, err := strconv.ParseInt(rev, 10, 64)
	switch {
	case err != nil:
		return "not a revision: " + rev
	case certain && n.saved[rev] != "":
		return n.saved[rev]
	case certain && n.of[rev] != "":
		return n.of[rev]
	case i >= n.newest:
		return "now"
	case n.saved[rev] != "":
		return n.saved[rev]
	case n.of[rev] != "":
		return n.of[rev]
	}
	return "past"
}

var changing = []struct {
	find *regexp.Regexp
	put  string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "<uid>"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "<time>"},
	{regexp.MustCompile(`("resourceVersion": ?)"\d+"`), `$1"<rv>"`},
	{regexp.MustCompile(`(resourceVersion\\*": ?\\*")\d+`), "$1<rv>"},
	{regexp.MustCompile(`in record \(\d+\)`), "in record (<rv>)"},
	{regexp.MustCompile(`in scheme (\\*)"[^"\\]*`), `in scheme $1"<place>`},
	{regexp.MustCompile(`current: \d+`), "current: <n>"},
	{regexp.MustCompile(`(too old resource version: \d+) \(\d+\)`), "$1 (<n>)"},
}

// plain replaces values that are recognized by their format.
func (n *names) plain(s string) string {
	for _, c := range changing {
		s = c.find.ReplaceAllString(s, c.put)
	}
	return strings.NewReplacer(n.ns, "$ns", n.run, "$run").Replace(s)
}
