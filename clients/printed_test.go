package clients_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
)

// printed maps a value, such as the namespace, to its name in a transcript, such as $ns.
type printed map[string]string

// expand puts the values in place of the names.
func (p printed) expand(s string) string {
	return os.Expand(s, func(name string) string {
		for value, n := range p {
			if n == "$"+name {
				return value
			}
		}
		return map[string]string{"$": "$"}[name]
	})
}

// Texts that differ from one run to the next, and their replacements.
var varying = []struct {
	what *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "<uid>"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "<time>"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? [+-]\d{4}`), "<time>"},
	{regexp.MustCompile(`\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}`), "<time>"},
	{regexp.MustCompile(`(resourceVersion"?: ?)"\d+"`), `$1"<revision>"`},
	{regexp.MustCompile(`/tmp/(LIVE|MERGED)-\d+`), "/tmp/$1"},
	{regexp.MustCompile(`-[bcdfghjklmnpqrstvwxz2456789]{5}\b`), "-<random>"},
	{regexp.MustCompile(`-[bcdfghjklmnpqrstvwxz2456789]{8,10}\b`), "-<hash>"},
	{regexp.MustCompile(`\b10\.\d+\.\d+\.\d+\b`), "<address>"},
	{regexp.MustCompile(`\b3[0-2]\d{3}\b`), "<port>"},
	{regexp.MustCompile(`\S+-edit-\w+.yaml`), `"edited.yaml`},
	{regexp.MustCompile(`( |^|\()(<invalid>|<unknown>|(\d+[ydhms])+)( ago\)|$| )`), "$1<age>$4"},
	{regexp.MustCompile(`([^ +-])  +`), "$1  "},
	{regexp.MustCompile(` +$`), ""},
}

// progress matches the lines that rollout status prints before its last line. Their number
// depends on timing.
var progress = regexp.MustCompile(`^Waiting for deployment `)

// plain replaces the varying parts of a text.
func (p printed) plain(s string) string {
	for value, name := range p {
		s = strings.ReplaceAll(s, value, name)
	}
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	lines = slices.DeleteFunc(lines, progress.MatchString)
	for i, line := range lines {
		for _, v := range varying {
			line = v.what.ReplaceAllString(line, v.as)
		}
		if line == "" {
			line = "." // an empty line ends a block
		}
		lines[i] = line
	}
	if len(lines) == 1 && lines[0] == "." {
		return ""
	}
	return strings.Join(lines, "\n")
}
