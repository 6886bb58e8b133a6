//go:build conformance

package conformance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2/types"

	"fairlead.dev/compat/realnode"
)

// A place is where a share of the specs runs.
type place struct {
	share           string
	kubeconfig      string
	inside, outside string // a folder for reports, as the process sees it and as we do
	command         func(args ...string) *exec.Cmd
}

// results are those of a whole run.
type results struct {
	start time.Time
	all   int
	dir   string // of the files of a submission; empty: none are written

	mu struct {
		sync.Mutex
		ended  int
		passed map[string]int // by area
		of     map[string]int
	}
}

// newResults prepares a run of so many specs, and reports on it when t ends.
func newResults(t *testing.T, all int) *results {
	r := &results{start: time.Now(), all: all, dir: os.Getenv("FAIRLEAD_CONFORMANCE_RESULTS")}
	r.mu.passed, r.mu.of = map[string]int{}, map[string]int{}
	if r.dir != "" {
		if err := os.MkdirAll(r.dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		passed := 0
		for _, area := range slices.Sorted(maps.Keys(r.mu.of)) {
			t.Logf("%-20s %3d of %3d", area, r.mu.passed[area], r.mu.of[area])
			passed += r.mu.passed[area]
		}
		t.Logf("%-20s %3d of %3d in %s", "all", passed, r.all, time.Since(r.start).Round(time.Second))
		if r.dir != "" {
			if err := writeSubmission(r.dir); err != nil {
				t.Error(err)
			}
		}
	})
	return r
}

// run runs specs one after the other at a place.
func (r *results) run(t *testing.T, at place, names []string) {
	focus := make([]string, len(names))
	for i, name := range names {
		focus[i] = regexp.QuoteMeta(name) + "$"
	}
	report, junit := "report-"+at.share+".json", "junit-"+at.share+".xml"
	cmd := at.command("-test.run=^TestSuite$", "-test.timeout=0",
		"-kubeconfig="+at.kubeconfig, "-provider=skeleton", "-non-blocking-taints=node-role.kubernetes.io/control-plane,"+realnode.SimulatedTaint, "-dump-logs-on-failure=false",
		"-ginkgo.focus="+strings.Join(focus, "|"), "-ginkgo.json-report="+filepath.Join(at.inside, report), "-ginkgo.junit-report="+filepath.Join(at.inside, junit),
		"-ginkgo.no-color", "-ginkgo.v", "-ginkgo.timeout=2h")
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, child+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	log := io.Discard
	if r.dir != "" {
		f, err := os.Create(filepath.Join(r.dir, "e2e-"+at.share+".log"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		log = f
	}
	last := r.follow(io.TeeReader(out, log))
	failed := cmd.Wait()
	data, err := os.ReadFile(filepath.Join(at.outside, report))
	if err != nil {
		t.Fatalf("%v, %v\n%s", failed, err, last)
	}
	var suites []types.Report
	if err := json.Unmarshal(data, &suites); err != nil {
		t.Fatal(err)
	}
	state := map[string]types.SpecReport{}
	for _, suite := range suites {
		for _, spec := range suite.SpecReports {
			if spec.LeafNodeType == types.NodeTypeIt {
				state[spec.FullText()] = spec
			}
		}
	}
	if r.dir != "" {
		text, err := os.ReadFile(filepath.Join(at.outside, junit))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(r.dir, junit), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	lost := 0
	for _, name := range names {
		spec, ran := state[name]
		passed := ran && spec.State.Is(types.SpecStatePassed)
		r.count(name, passed)
		switch {
		case !ran || spec.State == types.SpecStateSkipped:
			lost++
			t.Errorf("did not run: %s", name)
		case !passed:
			t.Errorf("%s: %s\n%s\n%s", spec.State, name, spec.FailureMessage(), spec.CapturedGinkgoWriterOutput)
		default:
			t.Logf("passed in %6.2f s: %s", spec.RunTime.Seconds(), name)
		}
	}
	if lost > 0 {
		t.Logf("the end of the output, %v:\n%s", failed, last)
	}
}

// count adds a spec's result to those of its area, which is the name in its first brackets.
func (r *results) count(name string, passed bool) {
	area, _, _ := strings.Cut(strings.TrimPrefix(name, "[sig-"), "]")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.of[area]++
	if passed {
		r.mu.passed[area]++
	}
}

// follow reads the output of a process of the suite, shows on stderr how far all of them are,
// and returns the last lines.
func (r *results) follow(out io.Reader) []byte {
	var last [][]byte
	for in := bufio.NewReader(out); ; {
		line, err := in.ReadBytes('\n')
		if last = append(last, line); len(last) > 40 {
			last = last[1:]
		}
		if bytes.HasPrefix(line, []byte("•")) {
			r.progress(bytes.Contains(line, []byte("[FAILED]")))
		}
		if err != nil {
			return bytes.Join(last, nil)
		}
	}
}

// progress shows that one spec more has ended.
func (r *results) progress(failed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.ended++
	if !failed && r.mu.ended%10 != 0 && r.mu.ended != r.all {
		return
	}
	word := ""
	if failed {
		word = ", one more failed"
	}
	spent := time.Since(r.start)
	left := spent / time.Duration(r.mu.ended) * time.Duration(r.all-r.mu.ended)
	fmt.Fprintf(os.Stderr, "%4d of %d specs after %s, about %s to go%s\n", r.mu.ended, r.all, spent.Round(time.Second), left.Round(time.Second), word)
}
