package corpus_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// script is a file of cases.
type script struct {
	lets  map[string]string
	cases []*testCase
	// blocks are all blocks in the order of the file.
	blocks []*block
}

type testCase struct {
	name     string
	requests []*block
}

// block is the text between two empty lines.
type block struct {
	head         []string // comments and the name of a case
	request      string   // method and path, or the manifest of a let
	theirs, ours string
	differs      bool
	isRequest    bool
}

const (
	rule     = "\n----\n"
	oursRule = "\n---- fairlead\n"
)

var method = regexp.MustCompile(`^[A-Z]+ \S+(\n|$)`)

func parseScript(t *testing.T, path string) *script {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{lets: map[string]string{}}
	for _, text := range strings.Split(strings.TrimRight(string(data), "\n"), "\n\n") {
		b := &block{}
		s.blocks = append(s.blocks, b)
		for strings.HasPrefix(text, "#") || strings.HasPrefix(text, "== ") {
			line, rest, _ := strings.Cut(text, "\n")
			b.head, text = append(b.head, line), rest
			if name, ok := strings.CutPrefix(line, "== "); ok {
				s.cases = append(s.cases, &testCase{name: name})
			}
		}
		request, answer, _ := strings.Cut(text, rule)
		b.request = strings.TrimSuffix(request, "\n----")
		b.theirs, b.ours, b.differs = strings.Cut(answer, oursRule)
		b.isRequest = method.MatchString(b.request)
		if let, ok := strings.CutPrefix(b.request, "let "); ok {
			name, manifest, _ := strings.Cut(let, "\n")
			s.lets[name] = manifest
		} else if b.isRequest {
			if len(s.cases) == 0 {
				t.Fatalf("%s: a request before the first name", path)
			}
			c := s.cases[len(s.cases)-1]
			c.requests = append(c.requests, b)
		} else if b.request != "" {
			t.Fatalf("%s: neither a request nor a let:\n%s", path, text)
		}
	}
	return s
}

// write writes the script back into its file.
func (s *script) write(t *testing.T, path string) {
	t.Helper()
	var blocks []string
	for _, b := range s.blocks {
		lines := b.head
		if b.request != "" {
			lines = append(lines[:len(lines):len(lines)], b.request)
		}
		text := strings.Join(lines, "\n")
		if b.isRequest {
			text += rule + b.theirs
			if b.differs {
				text += oursRule + b.ours
			}
		}
		blocks = append(blocks, text)
	}
	if err := os.WriteFile(path, []byte(strings.Join(blocks, "\n\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
