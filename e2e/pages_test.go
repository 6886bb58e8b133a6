package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// pages are the pages of docs whose commands are run as they stand, from the first to the last, in one shell: in the
// repository, or in an empty folder.
var pages = []struct {
	name       string
	repository bool
}{
	{"tutorial.md", true},
	{"howto/backup.md", false},
	{"howto/ci.md", true},
	{"howto/gpus.md", false},
	{"howto/node-failure.md", false},
}

// pageTimeout bounds the commands of a page, which build programs too.
const pageTimeout = 10 * time.Minute

// TestPages runs the commands of pages, for a user with an empty home directory. A block of text after commands is their output,
// with ... for any text.
func TestPages(t *testing.T) {
	for _, page := range pages {
		t.Run(page.name, func(t *testing.T) {
			home := t.TempDir()
			t.Cleanup(func() { deleteInstances(t, home) })
			blocks := blocksOf(t, page.name)
			ctx, stop := context.WithTimeout(t.Context(), pageTimeout)
			defer stop()
			shell := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", script(blocks))
			shell.Env = pageEnvironment(t, home)
			if shell.Dir = ".."; !page.repository {
				shell.Dir = t.TempDir()
			}
			out, err := shell.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			checkOutputs(t, blocks, string(out))
		})
	}
}

// block is a fenced block of a page.
type block struct{ language, text string }

var fence = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

func blocksOf(t *testing.T, page string) (all []block) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
		all = append(all, block{m[1], m[2]})
	}
	if script(all) == "" {
		t.Fatalf("docs/%s has no commands", page)
	}
	return all
}

// blockEnd is a line after the output of a block of commands.
const blockEnd = "@@ end of block"

// script returns all commands of a page.
func script(blocks []block) string {
	var s strings.Builder
	for _, b := range blocks {
		if b.language == "sh" {
			fmt.Fprintf(&s, "%s\necho '%s'\n", b.text, blockEnd)
		}
	}
	return s.String()
}

// checkOutputs compares the outputs of commands with the blocks of text after them.
func checkOutputs(t *testing.T, blocks []block, out string) {
	t.Helper()
	outputs := strings.Split(out, blockEnd+"\n")
	last := ""
	for _, b := range blocks {
		switch b.language {
		case "sh":
			last, outputs = outputs[0], outputs[1:]
		case "text":
			for line := range strings.Lines(b.text) {
				pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(line)), `\.\.\.`, ".*")
				if !regexp.MustCompile("(?m)^\\s*" + pattern + "\\s*$").MatchString(last) {
					t.Errorf("the page has %q, the commands print\n%s", strings.TrimSpace(line), last)
				}
			}
		}
	}
}

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
	gobin := filepath.Join(home, "go", "bin")
	// KUBECONFIG goes before a server of the repository, such as a developer runs.
	return append(env, "HOME="+home, "KUBECONFIG="+filepath.Join(home, ".kube", "config"), "GOBIN="+gobin,
		"PATH="+strings.Join([]string{gobin, filepath.Dir(bin.fairlead), os.Getenv("PATH")}, string(os.PathListSeparator)))
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
