package fairlead_test

import (
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A comment names its subject: "the holder of the lease", not "who has it"; "the objects
// that match", not "what matches". Two dozen such pronouns on a page make the reader
// guess the noun, and cannot be searched for. So their number is bounded, for each 1,000
// lines of comments and Markdown. Our models have:
//
//	                     pebble  bbolt  client-go  controller-runtime
//	what                    1      2        3              4
//	who                     0      0        0              0
//	nobody, nothing, none   1 to 6
//
// A room's limit is the worst of these plus a margin.
type pronoun int

const (
	what pronoun = iota
	who
	nobody
	says
	forWho
	pronouns
)

var pronounText = [pronouns]*regexp.Regexp{
	what:   regexp.MustCompile(`(?i)\bwhat(ever)?\b`),
	who:    regexp.MustCompile(`(?i)\bwho(ever|m)?\b`),
	nobody: regexp.MustCompile(`(?i)\b(nobody|nothing|none|somebody)\b`),
	says:   regexp.MustCompile(`(?i)\b(says?|tells?) (that|whether|of|who|what|which)\b`),
	forWho: regexp.MustCompile(`(?i)\b(for|to|of|by|from) who\b`),
}

// rates are numbers of pronouns in 1,000 lines.
type rates [pronouns]int

var proseLimit = rates{what: 10, who: 1, nobody: 8, says: 2, forWho: 0}

// proseDebt has the rooms that are still above the limit, with their rates today. A rate
// here may only fall, and a room without a line has the limit.
var proseDebt = map[string]rates{
	".":                     {what: 128, who: 1, nobody: 87, says: 2, forWho: 0},
	"bench":                 {what: 183, who: 17, nobody: 69, says: 28, forWho: 0},
	"client":                {what: 130, who: 22, nobody: 73, says: 38, forWho: 10},
	"clients":               {what: 267, who: 33, nobody: 111, says: 18, forWho: 8},
	"cmd":                   {what: 217, who: 1, nobody: 63, says: 43, forWho: 0},
	"compat":                {what: 211, who: 31, nobody: 107, says: 35, forWho: 0},
	"docs":                  {what: 41, who: 9, nobody: 26, says: 2, forWho: 0},
	"e2e":                   {what: 185, who: 47, nobody: 86, says: 42, forWho: 0},
	"examples":              {what: 127, who: 12, nobody: 74, says: 21, forWho: 0},
	"informer":              {what: 135, who: 37, nobody: 74, says: 34, forWho: 10},
	"internal/client":       {what: 391, who: 1, nobody: 197, says: 133, forWho: 0},
	"internal/clientsuite":  {what: 153, who: 96, nobody: 118, says: 2, forWho: 32},
	"internal/controlplane": {what: 194, who: 60, nobody: 103, says: 27, forWho: 7},
	"internal/informertest": {what: 103, who: 1, nobody: 37, says: 2, forWho: 0},
	"internal/node":         {what: 277, who: 22, nobody: 118, says: 60, forWho: 7},
	"internal/trace":        {what: 311, who: 80, nobody: 80, says: 112, forWho: 10},
	"node":                  {what: 191, who: 23, nobody: 76, says: 91, forWho: 8},
	"server":                {what: 187, who: 35, nobody: 85, says: 55, forWho: 10},
	"testenv":               {what: 182, who: 1, nobody: 39, says: 2, forWho: 0},
	"trace":                 {what: 204, who: 40, nobody: 107, says: 40, forWho: 7},
	"workqueue":             {what: 79, who: 49, nobody: 79, says: 25, forWho: 0},
}

// proseRoom is the room of a file: its top folder, or one below internal.
func proseRoom(path string) string {
	parts := strings.Split(path, "/")
	switch {
	case strings.HasSuffix(path, ".md"):
		return "docs"
	case len(parts) == 1:
		return "."
	case parts[0] == "internal":
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

var (
	fenced     = regexp.MustCompile("(?ms)^```.*?^```$")
	quotedCode = regexp.MustCompile("`[^`]*`")
)

// proseLines are the lines of a file that people read as sentences: the comments of a Go
// file, or a Markdown page without its code.
func proseLines(path string, text []byte) []string {
	var lines []string
	add := func(s string) {
		for l := range strings.Lines(s) {
			l = strings.Trim(l, "/* \t\n")
			if l != "" {
				lines = append(lines, l)
			}
		}
	}
	if strings.HasSuffix(path, ".md") {
		for l := range strings.Lines(quotedCode.ReplaceAllString(fenced.ReplaceAllString(string(text), ""), "")) {
			if !strings.HasPrefix(l, "    ") {
				add(l)
			}
		}
		return lines
	}
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile(path, -1, len(text)), text, nil, scanner.ScanComments)
	for {
		_, tok, lit := s.Scan()
		if tok == token.EOF {
			return lines
		}
		if tok == token.COMMENT && !strings.HasPrefix(lit, "//go:") && !strings.HasPrefix(lit, "//lint:") {
			add(lit)
		}
	}
}

// prose is the text of one room.
type prose struct {
	lines  int
	counts [pronouns]int
	found  [pronouns][]string
}

func (p *prose) add(path string, lines []string) {
	p.lines += len(lines)
	for _, l := range lines {
		for i, re := range pronounText {
			if n := len(re.FindAllString(l, -1)); n > 0 {
				p.counts[i] += n
				p.found[i] = append(p.found[i], fmt.Sprintf("%s: %s", path, l))
			}
		}
	}
}

// TestProse holds each room to its rates; -v prints them. One word more than the rate is
// allowed, since a small room has fewer than 1,000 lines.
func TestProse(t *testing.T) {
	rooms := map[string]*prose{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		path = filepath.ToSlash(path)
		if d.IsDir() || path == "prose_test.go" || !strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".md") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		room := proseRoom(path)
		if rooms[room] == nil {
			rooms[room] = &prose{}
		}
		rooms[room].add(path, proseLines(path, text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, 0, len(rooms))
	for name := range rooms {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		p := rooms[name]
		limit, owes := proseDebt[name]
		if !owes {
			limit = proseLimit
		}
		var now rates
		for i, n := range p.counts {
			now[i] = (n*1000 + p.lines - 1) / max(p.lines, 1)
			if n > limit[i]*p.lines/1000+1 {
				t.Errorf("%s: %d of %q in %d lines, %d are allowed in 1,000; for example:\n\t%s", name, n, pronounText[i], p.lines,
					limit[i], strings.Join(p.found[i][:min(len(p.found[i]), 5)], "\n\t"))
			}
		}
		t.Logf("%-28s %6d lines: what %d, who %d, nobody %d, says %d, for who %d", name, p.lines, now[what], now[who], now[nobody], now[says], now[forWho])
	}
	for name := range proseDebt {
		if rooms[name] == nil {
			t.Errorf("proseDebt names %s, which has no text", name)
		}
	}
}
