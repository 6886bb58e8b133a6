package clients_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/rand"
)

// A transcript is blocks with an empty line between them. Comments begin with #.
//
//	file NAME                 the lines that follow are a file
//	kubectl get pods          a command; the lines that follow are its input
//	EDITOR='sed -i ..' kubectl edit ...
//	----
//	the command's output
//	---- fairlead
//	its output on a server of ours, if it differs
//
// $ns is the transcript's namespace, $run a word for the names of its objects without a
// namespace, $dir the folder of its files, and $$ a dollar. CLIENTS_REWRITE=1 writes the new
// output to the files.
type block struct {
	source       string // with its comments
	command      string
	input        string
	theirs, ours string
	differs      bool
}

const (
	rule     = "\n----"
	oursRule = "\n---- fairlead"
)

func parseTranscript(t *testing.T, path string) (blocks []*block) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range strings.Split(strings.TrimRight(string(data), "\n"), "\n\n") {
		b := &block{}
		text, b.ours, b.differs = strings.Cut(text, oursRule)
		b.source, b.theirs, _ = strings.Cut(text, rule)
		b.ours, b.theirs = strings.TrimPrefix(b.ours, "\n"), strings.TrimPrefix(b.theirs, "\n")
		for rest := b.source; rest != ""; {
			var line string
			line, rest, _ = strings.Cut(rest, "\n")
			if !strings.HasPrefix(line, "#") {
				b.command, b.input = line, rest
				break
			}
		}
		blocks = append(blocks, b)
	}
	return blocks
}

func runTranscript(t *testing.T, g target, path string) {
	blocks := parseTranscript(t, path)
	id := rand.String(6)
	k := kubectl{target: g, dir: t.TempDir(), ns: "kubectl-" + id}
	n := printed{"w" + id: "$run", k.ns: "$ns", k.dir: "$dir", g.config.Host: "$server"}
	k.run("", "create", "namespace", k.ns)
	k.run("", "wait", "--for=create", "serviceaccount/default", "--timeout=1m")
	var both []string // kinds that kube-apiserver 1.36 has too
	for _, text := range strings.Split(kindsText(t, k.ns, "w"+id), "\n---\n") {
		if !strings.HasPrefix(text, "# fairlead") {
			both = append(both, text)
		}
	}
	k.write(t, "kinds.yaml", strings.Join(both, "\n---\n"))
	rewrite := os.Getenv("CLIENTS_REWRITE") != ""
	for _, b := range blocks {
		if b.command == "" {
			continue
		}
		got := n.plain(k.do(t, b, n))
		want := b.theirs
		if g.ours && b.differs {
			want = b.ours
		}
		switch {
		case got == want:
		case !rewrite:
			t.Errorf("%s: %s\n got:\n%s\nwant:\n%s", path, b.command, got, want)
		case g.ours:
			b.ours, b.differs = got, got != b.theirs
		default:
			b.theirs = got
		}
	}
	k.run("", "delete", "namespace", k.ns, "--wait=false")
	if rewrite {
		writeTranscript(t, path, blocks)
	}
}

// do writes a block's file, or runs its command and returns the output.
func (k kubectl) do(t *testing.T, b *block, n printed) string {
	t.Helper()
	words := split(n.expand(b.command))
	input := n.expand(b.input)
	if input != "" {
		input += "\n"
	}
	if words[0] == "file" {
		k.write(t, words[1], input)
		return ""
	}
	if editor, ok := strings.CutPrefix(words[0], "EDITOR="); ok {
		t.Setenv("KUBE_EDITOR", editor)
		words = words[1:]
	}
	if words[0] != "kubectl" {
		t.Fatalf("neither a file nor kubectl: %s", b.command)
	}
	if i := slices.Index(words, "-f"); i >= 0 && words[i+1] == "-" { // kubectl would read the process's
		k.write(t, "input.yaml", input)
		words[i+1] = filepath.Join(k.dir, "input.yaml")
	}
	return k.run(input, words[1:]...)
}

func writeTranscript(t *testing.T, path string, blocks []*block) {
	t.Helper()
	var texts []string
	for _, b := range blocks {
		text := b.source
		if b.command != "" && !strings.HasPrefix(b.command, "file ") {
			text += strings.TrimRight(rule+"\n"+b.theirs, "\n")
			if b.differs {
				text += strings.TrimRight(oursRule+"\n"+b.ours, "\n")
			}
		}
		texts = append(texts, text)
	}
	if err := os.WriteFile(path, []byte(strings.Join(texts, "\n\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// split cuts a line into words as a shell does: quotes keep them together.
func split(line string) (words []string) {
	var word strings.Builder
	var quote rune
	open := false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, open = r, true
		case quote == 0 && r == ' ':
			if open {
				words = append(words, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteRune(r)
			open = true
		}
	}
	if open {
		words = append(words, word.String())
	}
	return words
}
