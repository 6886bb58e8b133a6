package semantics_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// block is one command of a transcript and its output.
type block struct {
	comments []string
	line     int
	// command is the first line without its options; rest are headers and body.
	command string
	options map[string]string
	rest    []string
	source  []string
	// theirs is the expected output; ours is Fairlead's if it differs.
	theirs, ours []string
	differs      bool
}

const (
	rule     = "----"
	oursRule = "---- fairlead"
)

func parseScript(t *testing.T, path string) []*block {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []*block
	var b *block
	state := 0 // 0 the command, 1 their output, 2 ours
	for i, line := range strings.Split(strings.TrimRight(string(data), "\n"), "\n") {
		if b == nil {
			b, state = &block{line: i + 1}, 0
		}
		switch {
		case line == "":
			if len(b.source)+len(b.comments) > 0 {
				blocks = append(blocks, b)
			}
			b = nil
		case state == 0 && line == rule:
			state = 1
		case state == 1 && line == oursRule:
			state, b.differs = 2, true
		case state == 0 && strings.HasPrefix(line, "#"):
			b.comments = append(b.comments, line)
		case state == 0:
			if len(b.source) == 0 {
				b.line = i + 1
			}
			b.source = append(b.source, line)
		case state == 1:
			b.theirs = append(b.theirs, line)
		default:
			b.ours = append(b.ours, line)
		}
	}
	if b != nil {
		blocks = append(blocks, b)
	}
	for _, b := range blocks {
		if len(b.source) == 0 {
			continue
		}
		head, options, _ := strings.Cut(b.source[0], " | ")
		b.command, b.rest = strings.TrimSpace(head), b.source[1:]
		b.options = map[string]string{}
		for _, o := range strings.Fields(options) {
			k, v, _ := strings.Cut(o, "=")
			b.options[k] = v
		}
	}
	return blocks
}

func writeScript(t *testing.T, path string, blocks []*block) {
	t.Helper()
	var w strings.Builder
	for i, b := range blocks {
		if i > 0 {
			w.WriteString("\n")
		}
		for _, part := range [][]string{b.comments, b.source} {
			for _, line := range part {
				fmt.Fprintln(&w, line)
			}
		}
		if len(b.source) == 0 {
			continue
		}
		fmt.Fprintln(&w, rule)
		for _, line := range b.theirs {
			fmt.Fprintln(&w, line)
		}
		if b.differs {
			fmt.Fprintln(&w, oursRule)
			for _, line := range b.ours {
				fmt.Fprintln(&w, line)
			}
		}
	}
	if err := os.WriteFile(path, []byte(w.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
