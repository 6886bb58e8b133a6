package kubeapiserver

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/serverflags"
	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write the table of kube-apiserver in docs/flags.md anew")

const flagsPage = "../../docs/flags.md"

// upstreamFlag is a flag of a command of Kubernetes.
type upstreamFlag struct{ name, standard string }

// upstreamFlags reads the flags of a command of Kubernetes 1.37.2 with their defaults. The files were written by a program
// that visits the flags of the commands in k8s.io/kubernetes/cmd.
func upstreamFlags(t *testing.T, command string) (list []upstreamFlag) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + command + ".tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		name, standard, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		list = append(list, upstreamFlag{name, standard})
	}
	return list
}

// flagNotes tell how flags that work differ from kube-apiserver's.
var flagNotes = map[string]string{
	"admission-control":            "deprecated, as in kube-apiserver",
	"bind-address":                 "`--listen` in `fairlead up`",
	"secure-port":                  "`--listen` in `fairlead up`",
	"cert-dir":                     "the certificate is made if there is none",
	"feature-gates":                "those of the API that this server can switch; others are refused",
	"emulated-version":             "1.33 to 1.37",
	"min-request-timeout":          "0 stands for the default",
	"service-node-port-range":      "a Service keeps a port out of a new range, without an Event",
	"kubernetes-service-node-port": "also of a Service that exists",
	"etcd-servers":                 "without it, the embedded store",
	"etcd-servers-overrides":       "Services and IPAddresses only together; excludes `--trace-events`",
	"disable-admission-plugins":    "the four plugins of certificates only together",
}

// status returns the status of a flag in the table.
func status(set, shared *pflag.FlagSet, name string) string {
	f := set.Lookup(name)
	if f == nil {
		return "unknown"
	}
	if other, ok := f.Value.(*otherFlag); ok {
		switch {
		case other.fixed == nil:
			return "no effect: " + other.reason
		case other.fixed[len(other.fixed)-1] == "":
			return "refused: " + other.reason
		}
		return "refused but for its default: " + other.reason
	}
	text := "works"
	if shared.Lookup(name) != nil {
		text += ", in `fairlead up` and `server` too"
	}
	if note := flagNotes[name]; note != "" {
		text += "; " + note
	}
	return text
}

// apiserverTable returns the rows of kube-apiserver.
func apiserverTable(t *testing.T) (rows []string) {
	t.Helper()
	cmd := Command()
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	shared := pflag.NewFlagSet("", pflag.ContinueOnError)
	serverflags.Register(shared, &controlplane.Options{})
	var known []string
	for _, f := range upstreamFlags(t, "kube-apiserver") {
		known = append(known, f.name)
		if s := status(cmd.Flags(), shared, f.name); s == "unknown" {
			t.Errorf("no flag --%s", f.name)
		} else {
			rows = append(rows, row(f, s))
		}
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(known, f.Name) && f.Name != "http2" { // the choice of this server's own code
			t.Errorf("kube-apiserver has no flag --%s", f.Name)
		}
	})
	for name := range flagNotes {
		if !slices.Contains(known, name) {
			t.Errorf("a note on --%s, which kube-apiserver does not have", name)
		}
	}
	return rows
}

func row(f upstreamFlag, text string) string {
	standard := ""
	if f.standard != "" && f.standard != "[]" {
		standard = "`" + strings.ReplaceAll(f.standard, "|", `\|`) + "`"
	}
	return fmt.Sprintf("| `--%s` | %s | %s |", f.name, standard, text)
}

// section returns the lines of a section's table, and the text before and after them.
func section(t *testing.T, page, heading string) (before, after string, rows []string) {
	t.Helper()
	const head = "|---|---|---|\n"
	start := strings.Index(page, "\n## "+heading+"\n")
	if start < 0 {
		t.Fatalf("%s has no section %s", flagsPage, heading)
	}
	start += strings.Index(page[start:], head) + len(head)
	end := start
	for line := range strings.Lines(page[start:]) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		rows = append(rows, strings.TrimSuffix(line, "\n"))
		end += len(line)
	}
	return page[:start], page[end:], rows
}

func readPage(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestFlagsPage: the page has a row for each flag of kube-apiserver, and the program treats it as the page tells.
func TestFlagsPage(t *testing.T) {
	want := apiserverTable(t)
	page := readPage(t, flagsPage)
	before, after, got := section(t, page, "kube-apiserver")
	if *update {
		if err := os.WriteFile(flagsPage, []byte(before+strings.Join(want, "\n")+"\n"+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("the table of kube-apiserver is not that of the program; write it by go test ./internal/kubeapiserver -run TestFlagsPage -update:\n%s", diff)
	}
}

// TestOtherCommandsFlags: the page has a row for each flag of the other commands, which names only flags that Fairlead has.
func TestOtherCommandsFlags(t *testing.T) {
	page, commands := readPage(t, flagsPage), readPage(t, "../../docs/commands.md")
	ours := regexp.MustCompile("`(--[a-z0-9-]+)")
	for _, command := range []string{"kube-controller-manager", "kube-scheduler"} {
		_, _, rows := section(t, page, command)
		var want, got []string
		for _, f := range upstreamFlags(t, command) {
			want = append(want, row(f, ""))
		}
		for _, r := range rows {
			columns := strings.SplitN(strings.Trim(r, "| "), " | ", 3)
			if len(columns) != 3 || !slices.ContainsFunc([]string{"works by ", "not needed: ", "fixed: ", "missing: "}, func(s string) bool { return strings.HasPrefix(columns[2], s) }) {
				t.Errorf("%s: the row has no status: %s", command, r)
				continue
			}
			got = append(got, strings.TrimSuffix(r, columns[2]+" |")+" |")
			for _, name := range ours.FindAllStringSubmatch(columns[2], -1) {
				if !strings.Contains(commands, "| `"+name[1]+"`") {
					t.Errorf("%s: no command of Fairlead has %s: %s", command, name[1], r)
				}
			}
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("the flags of %s in %s and those of Kubernetes differ:\n%s", command, flagsPage, diff)
		}
	}
}
