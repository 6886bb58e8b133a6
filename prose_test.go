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
var proseDebt = map[string]rates{}

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

// TestProse holds each room to its rates; -v prints them. docs/commands.md and docs/metrics.md
// have the words of the code. One word more than the rate is
// allowed, since a small room has fewer than 1,000 lines.
func TestProse(t *testing.T) {
	rooms := map[string]*prose{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		path = filepath.ToSlash(path)
		if d.IsDir() || path == "prose_test.go" || path == "docs/commands.md" || path == "docs/metrics.md" || !strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".md") {
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
