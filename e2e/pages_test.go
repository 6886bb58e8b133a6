package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

// pageTimeout bounds the commands of a page, which build programs too.
const pageTimeout = 10 * time.Minute

// TestPages runs the commands of README.md and of each page in docs as they stand, from the first to the last, in one shell, for a
// user with an empty home directory. page describes the form. $REPOSITORY is this repository.
func TestPages(t *testing.T) {
	for _, name := range pageNames(t) {
		p := readPage(t, name)
		if !p.runs() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p.run(t)
		})
	}
}

// run runs the commands of a page, and compares their output.
func (p *page) run(t *testing.T) {
	home := t.TempDir()
	t.Cleanup(func() { deleteInstances(t, home) })
	dir := ".."
	if !p.repository {
		dir = t.TempDir()
	}
	p.replace(t, strings.NewReplacer("{dir}", dir, "{home}", home))
	outputs := t.TempDir()
	ctx, stop := context.WithTimeout(t.Context(), pageTimeout)
	defer stop()
	shell := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", p.script(outputs))
	shell.Env = pageEnvironment(t, home)
	if shell.Dir = dir; p.repository {
		// It goes before a server of the repository, such as a developer runs.
		shell.Env = append(shell.Env, "KUBECONFIG="+filepath.Join(home, ".kube", "config"))
	}
	shell.WaitDelay = patience // the commands in the background hold the pipes of a shell that was killed
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p.check(t, string(out), outputs)
}

// replace puts the values of this run in the place of the texts that the page names.
func (p *page) replace(t *testing.T, places *strings.Replacer) {
	t.Helper()
	var pairs []string
	for _, r := range p.replacements {
		with := places.Replace(r.with)
		if strings.Contains(with, "{port}") {
			with = strings.ReplaceAll(with, "{port}", freePort(t))
		}
		pairs = append(pairs, r.text, with)
	}
	all := strings.NewReplacer(pairs...)
	for i := range p.parts {
		p.parts[i].text, p.parts[i].command = all.Replace(p.parts[i].text), all.Replace(p.parts[i].command)
	}
}

// partEnd is a line after the output of a part of a page.
const partEnd = "@@ end of part"

// script returns all commands of a page. Those in the background write to files in a directory, and end with the shell.
func (p *page) script(outputs string) string {
	var s strings.Builder
	s.WriteString("running=()\ntrap 'for pid in \"${running[@]}\" $(jobs -p); do kill $pid 2>/dev/null || true; done; wait' EXIT\n")
	for i, part := range p.parts {
		switch {
		case part.kind == pageCommands && part.background:
			for line := range strings.Lines(joinLines(part.text)) {
				fmt.Fprintf(&s, "background=%s\n%s >>$background 2>&1 &\nrunning+=($!)\n", outputFile(outputs, i), withoutComment(line))
			}
		case part.kind == pageCommands:
			s.WriteString(part.text)
		case part.kind == pageInput:
			fmt.Fprintf(&s, "%s <<'@@ end of input'\n%s@@ end of input\n", part.command, part.text)
		default:
			continue
		}
		fmt.Fprintf(&s, "\necho '%s'\n", partEnd)
	}
	return s.String()
}

func outputFile(dir string, part int) string { return filepath.Join(dir, strconv.Itoa(part)) }

// joinLines puts each command with continued lines on one line.
func joinLines(text string) string {
	return strings.ReplaceAll(text, "\\\n", " ")
}

var comment = regexp.MustCompile(`\s+#\s.*`)

func withoutComment(line string) string {
	return comment.ReplaceAllString(strings.TrimSpace(line), "")
}

// check compares the output of the commands with the page.
func (p *page) check(t *testing.T, out, outputs string) {
	t.Helper()
	printed := strings.Split(out, partEnd+"\n")
	last := ""
	for i, part := range p.parts {
		switch part.kind {
		case pageCommands, pageInput:
			last, printed = printed[0], printed[1:]
			if part.background {
				text, err := os.ReadFile(outputFile(outputs, i))
				if err != nil {
					t.Fatal(err)
				}
				last = string(text)
			}
		case pageOutput:
			checkOutput(t, part.text, last)
		}
	}
}

// checkOutput checks that each line of a page is printed. In the page ... stands for any text, a word with a digit for any word, and
// a bar for any bar. The branches of a tree stand for others of the same depth: which child is the last one depends on the time.
func checkOutput(t *testing.T, page, printed string) {
	t.Helper()
	for line := range strings.Lines(page) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if !linePattern(line).MatchString(printed) {
			t.Errorf("the page has %q, the commands print\n%s", line, printed)
		}
	}
}

var lineTokens = regexp.MustCompile(`\.\.\.|[│├└─][│├└─ ]+|\s+|[█·▁▂▃▄▅▆▇]+|[\pL\pN]*\pN[\pL\pN.]*|[^\s█·▁▂▃▄▅▆▇\pL\pN]|\pL+`)

func linePattern(line string) *regexp.Regexp {
	pattern := lineTokens.ReplaceAllStringFunc(line, func(token string) string {
		switch {
		case token == "...":
			return ".*"
		case strings.TrimSpace(token) == "":
			return `\s+`
		case strings.ContainsAny(token, "│├└─") && strings.HasSuffix(token, " "):
			return fmt.Sprintf("[│├└─ ]{%d}", utf8.RuneCountInString(token))
		case strings.ContainsAny(token, "█·▁▂▃▄▅▆▇"):
			return "[█·▁▂▃▄▅▆▇]+"
		case strings.ContainsAny(token, "0123456789"):
			return `[\pL\pN.]+`
		}
		return regexp.QuoteMeta(token)
	})
	return regexp.MustCompile("(?m)^\\s*" + pattern + "\\s*$")
}

// pagePrograms builds the programs of etcd that pages use, besides those of TestMain.
var pagePrograms = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(filepath.Dir(bin.fairlead), "etcd")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	for _, b := range []struct{ name, program string }{
		{"etcd", "go.etcd.io/etcd/server/v3"},
		{"etcdutl", "go.etcd.io/etcd/etcdutl/v3"},
	} {
		if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, b.name), b.program).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w\n%s", err, out)
		}
	}
	return dir, nil
})

// pageEnvironment is that of a user with an empty home directory, and the built programs in PATH.
func pageEnvironment(t *testing.T, home string) []string {
	t.Helper()
	var env []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if name != "KUBECONFIG" && name != "FAIRLEAD_NAME" && !strings.HasPrefix(name, "XDG_") {
			env = append(env, v)
		}
	}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY", "GOFLAGS", "GOTOOLCHAIN", "GOSUMDB", "GONOSUMDB"} {
		value, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		env = append(env, name+"="+strings.TrimSpace(string(value)))
	}
	etcd, err := pagePrograms()
	if err != nil {
		t.Fatal(err)
	}
	repository, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	gobin := filepath.Join(home, "go", "bin")
	return append(env, "HOME="+home, "REPOSITORY="+repository, "GOBIN="+gobin,
		"PATH="+strings.Join([]string{gobin, filepath.Dir(bin.fairlead), etcd, os.Getenv("PATH")}, string(os.PathListSeparator)))
}

// deleteInstances deletes the servers that a page has left behind.
func deleteInstances(t *testing.T, home string) {
	command := func(args ...string) ([]byte, error) {
		cmd := exec.Command(bin.fairlead, args...)
		cmd.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME=", "KUBECONFIG=")
		return cmd.CombinedOutput()
	}
	out, err := command("list", "-o", "json")
	var list struct{ Instances []struct{ DataDir string } }
	if err == nil {
		err = json.Unmarshal(out, &list)
	}
	if err != nil {
		t.Errorf("list: %v\n%s", err, out)
	}
	for _, i := range list.Instances {
		if out, err := command("delete", "--yes", "--data-dir", i.DataDir); err != nil {
			t.Errorf("delete %s: %v\n%s", i.DataDir, err, out)
		}
	}
}
