//go:build suites

package suites

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	dirFlag    = flag.String("dir", "", "`folder` that keeps the modules and the compiled test programs for the next run")
	onlyFlag   = flag.String("only", "", "`regexp` of the packages to run, matched with MODULE/PACKAGE")
	roundsFlag = flag.Int("rounds", 1, "how often each program runs on each pair; 0 compiles alone")
	tableFlag  = flag.String("table", "", "`file` to which the table is appended")
	logsFlag   = flag.String("logs", "", "`folder` for the output of the programs; the end of a failed one is always printed")
)

// program is a compiled test program.
type program struct {
	suite   suite
	pkg     string // "./pkg/client"
	path    string
	workDir string // the package's folder
}

// name is the import path of the package's tests.
func (p program) name() string {
	module, _, _ := strings.Cut(p.suite.module, "@")
	return module + strings.TrimPrefix(p.pkg, ".")
}

// TestSuites compiles all programs, and then runs each in rounds that alternate between the pairs of programs.
func TestSuites(t *testing.T) {
	only, err := regexp.Compile(*onlyFlag)
	if err != nil {
		t.Fatal(err)
	}
	dir := *dirFlag
	if dir == "" {
		dir = t.TempDir()
	}
	pairs := []pair{{"Fairlead", assets(t)}}
	if theirs := os.Getenv("ENVTEST_ASSETS"); theirs != "" {
		pairs = append(pairs, pair{"kube-apiserver + etcd", theirs})
	}
	var programs []program
	for _, s := range suites {
		programs = append(programs, prepare(t, s, dir, only)...)
	}
	if *roundsFlag == 0 {
		return
	}
	var table strings.Builder
	table.WriteString(heading)
	var notes []string
	module := ""
	for _, p := range programs {
		t.Run(p.name(), func(t *testing.T) {
			m := measure(t, p, pairs, *roundsFlag)
			if p.suite.module != module {
				module = p.suite.module
				fmt.Fprintf(&table, "| **%s** | | | | | | | |\n", module)
			}
			row := m.row()
			table.WriteString(row)
			t.Log(row)
			for _, d := range m.differences() {
				notes = append(notes, fmt.Sprintf("- %s: %s", p.name(), d))
				t.Log(d)
				if d.ours {
					t.Errorf("%s\n%s", d, m.runs[0].tail())
				}
			}
		})
	}
	text := table.String() + "\n" + strings.Join(notes, "\n") + "\n"
	fmt.Print("\n", text)
	if *tableFlag != "" {
		add(t, *tableFlag, text)
	}
}

// add appends text to a file.
func add(t *testing.T, file, text string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// prepare lays out the module of a suite and compiles those of its packages that only matches.
func prepare(t *testing.T, s suite, dir string, only *regexp.Regexp) []program {
	t.Helper()
	// The folder has room for a go.mod that replaces modules by ../.. and their folders.
	source := filepath.Join(dir, strings.ReplaceAll(s.module, "/", "+"), "folder", "module")
	var programs []program
	for _, pkg := range s.packages {
		p := program{suite: s, pkg: pkg, workDir: filepath.Join(source, pkg)}
		if !only.MatchString(p.name()) {
			continue
		}
		if !exists(source) {
			layOut(t, s.module, source)
			if s.prepare != nil {
				s.prepare(t, source)
			}
		}
		p.path = filepath.Join(source, pkg, "package.test")
		if !exists(p.path) && !compile(t, source, pkg, p.path) {
			continue
		}
		programs = append(programs, p)
	}
	return programs
}
