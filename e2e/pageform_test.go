package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// page is README.md or a page in docs, as the tests read it.
//
// A fenced block of sh has commands. One of console has lines of commands after "$ ", and their output. One of text is
// the output of the commands before it. One of yaml is applied by kubectl, with --dry-run=server. One of go is a part of a
// program that compiles. Comments in HTML, which readers do not see, have further instructions:
//
//	<!-- test: in the repository -->           the page's commands run there, in place of an empty directory
//	<!-- test: replace TEXT WITH -->           on the whole page; {port} is a free port, {dir} the directory, {home} the user's
//	<!-- test: run COMMANDS -->                more commands, such as those that prepare the page's next ones
//	<!-- test: background -->                  each command of the next block runs until the page's end
//	<!-- test: input of COMMAND -->            the next block is the command's standard input
//	<!-- test: go PROGRAM -->                  the program around the next block, which takes the place of BLOCK
//	<!-- test: skip: REASON -->                the next block is not tested
//
// In a command that runs after one in the background, $background is the file of its output. The processes in the array
// running end with the page.
type page struct {
	name         string
	repository   bool
	replacements []replacement
	parts        []part
	skipped      []string // reasons
}

type replacement struct{ text, with string }

// part is a part of a page that is tested.
type part struct {
	kind       partKind
	text       string
	background bool   // of commands
	command    string // of input
	program    string // of a part of a program: the rest of it
}

type partKind int

const (
	pageCommands partKind = iota
	pageOutput
	pageInput
	pageProgram
)

// generatedPages are made by the tests of packages.
var generatedPages = []string{"docs/commands.md", "docs/metrics.md"}

// pageNames returns the paths of all pages, in the repository.
func pageNames(t *testing.T) []string {
	t.Helper()
	all := []string{"README.md"}
	err := filepath.WalkDir("../docs", func(path string, _ fs.DirEntry, err error) error {
		name := strings.TrimPrefix(filepath.ToSlash(path), "../")
		if strings.HasSuffix(name, ".md") && !slices.Contains(generatedPages, name) {
			all = append(all, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var (
	pageElement = regexp.MustCompile("(?ms)^ *<!-- test: (.*?)\\s*-->$|^( *)```(\\w*)\n(.*?)^ *```$")
	// indentedBlock is a block of code without a fence, and so without a language.
	indentedBlock = regexp.MustCompile(`(?m)\n\n( {4}[^\s-].*)`)
)

// readPage reads a page, and fails the test if a block is neither tested nor marked.
func readPage(t *testing.T, name string) *page {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	p := &page{name: name}
	text := string(content)
	if m := indentedBlock.FindStringSubmatch(pageElement.ReplaceAllString(text, "")); m != nil {
		t.Errorf("%s: the block of code that begins with %q has no fence", name, m[1])
	}
	mark, rest := "", ""
	for _, m := range pageElement.FindAllStringSubmatch(text, -1) {
		if m[1] == "" {
			p.addBlock(t, mark, rest, m[3], outdent(m[4], m[2]))
			mark = ""
			continue
		}
		if mark != "" {
			t.Errorf("%s: no block follows %q", name, mark)
		}
		mark, rest = p.readMark(t, m[1])
	}
	if mark != "" {
		t.Errorf("%s: no block follows %q", name, mark)
	}
	return p
}

// readMark obeys a comment that is about the page, and returns one that is about the next block.
func (p *page) readMark(t *testing.T, text string) (mark, rest string) {
	t.Helper()
	if text == "in the repository" {
		p.repository = true
		return "", ""
	}
	word, rest, _ := strings.Cut(text, " ")
	if before, after, isRun := strings.Cut(text, "\n"); isRun && before == "run" || before == "go" {
		word, rest = before, after
	}
	switch word {
	case "replace":
		old, with, ok := strings.Cut(rest, " ")
		if !ok {
			t.Errorf("%s: %q does not say with what", p.name, text)
		}
		p.replacements = append(p.replacements, replacement{old, with})
		return "", ""
	case "run":
		p.parts = append(p.parts, part{kind: pageCommands, text: rest + "\n"})
		return "", ""
	case "input", "go", "background", "skip:":
		return word, strings.TrimPrefix(rest, "of ")
	}
	t.Errorf("%s: the tests do not know %q", p.name, text)
	return "", ""
}

// addBlock adds the parts of a block.
func (p *page) addBlock(t *testing.T, mark, rest, language, text string) {
	t.Helper()
	background := mark == "background"
	switch {
	case mark == "skip:":
		if rest == "" {
			t.Errorf("%s: no reason to skip\n%s", p.name, text)
		}
		p.skipped = append(p.skipped, rest)
	case language == "mermaid":
	case mark == "input":
		p.parts = append(p.parts, part{kind: pageInput, text: text, command: rest})
	case language == "yaml" && mark == "":
		p.parts = append(p.parts, part{kind: pageInput, text: text, command: "kubectl apply --dry-run=server -f -"})
	case language == "go" && mark == "go":
		p.parts = append(p.parts, part{kind: pageProgram, text: text, program: rest})
	case language == "sh" && (mark == "" || background):
		p.parts = append(p.parts, part{kind: pageCommands, text: text, background: background})
	case language == "console" && (mark == "" || background):
		p.addConsole(text, background)
	case language == "text" && mark == "" && len(p.parts) > 0:
		p.parts = append(p.parts, part{kind: pageOutput, text: text})
	default:
		t.Errorf("%s: this block of %q is not tested:\n%s", p.name, language, text)
	}
}

// addConsole adds the commands of a block of console, each with its output.
func (p *page) addConsole(text string, background bool) {
	add := func(kind partKind, line string) {
		if n := len(p.parts); kind == pageOutput && n > 0 && p.parts[n-1].kind == pageOutput {
			p.parts[n-1].text += line
			return
		}
		p.parts = append(p.parts, part{kind: kind, text: line, background: background && kind == pageCommands})
	}
	for line := range strings.Lines(text) {
		if command, is := strings.CutPrefix(line, "$ "); is {
			add(pageCommands, command)
		} else {
			add(pageOutput, line)
		}
	}
}

// outdent removes the indentation of a block in a list.
func outdent(text, indent string) string {
	if indent == "" {
		return text
	}
	var s strings.Builder
	for line := range strings.Lines(text) {
		s.WriteString(strings.TrimPrefix(line, indent))
	}
	return s.String()
}

// runs tells whether a page has commands.
func (p *page) runs() bool {
	return slices.ContainsFunc(p.parts, func(part part) bool { return part.kind == pageCommands || part.kind == pageInput })
}

// maxSkippedBlocks may only get smaller.
const maxSkippedBlocks = 18

// TestSkippedBlocks limits the number of blocks in the pages that no test runs.
func TestSkippedBlocks(t *testing.T) {
	n := 0
	for _, name := range pageNames(t) {
		for _, reason := range readPage(t, name).skipped {
			t.Logf("%s: %s", name, reason)
			n++
		}
	}
	if n > maxSkippedBlocks {
		t.Errorf("%d blocks are skipped, at most %d may be", n, maxSkippedBlocks)
	}
}
