//go:build suites

package suites

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// pair is a folder for KUBEBUILDER_ASSETS.
type pair struct{ name, assets string }

// run is one run of a test program on one pair.
type run struct {
	took time.Duration
	cpu  time.Duration // of the program and of all processes that it started and waited for
	load string        // of the machine, when the run began
	// inCases is the time in the specs, or in the tests of a program without specs. That of parallel tests is added up.
	inCases time.Duration
	cases   map[string]testCase // by name
	out     []byte
}

// measure runs a program on all pairs, in an order that alternates from round to round.
func measure(t *testing.T, p program, pairs []pair, rounds int) measurement {
	t.Helper()
	m := measurement{pkg: strings.TrimPrefix(p.pkg, "./"), runs: make([]runs, len(pairs))}
	for round := range rounds {
		for i := range pairs {
			if round%2 == 1 {
				i = len(pairs) - 1 - i
			}
			r := execute(t, p, pairs[i], round)
			t.Logf("%s round %d: %.2f s, %.2f s of CPU, load %s", pairs[i].name, round, r.took.Seconds(), r.cpu.Seconds(), r.load)
			m.runs[i] = append(m.runs[i], r)
		}
	}
	return m
}

// execute runs a test program once, in its package's folder. Ginkgo's order of specs depends on the round alone, so that
// both pairs see the same.
func execute(t *testing.T, p program, with pair, round int) run {
	t.Helper()
	report := filepath.Join(t.TempDir(), "report.json")
	args := []string{"-test.v=test2json", "-test.timeout=60m"}
	if ginkgo(t, p.path) {
		args = append(args, "-ginkgo.no-color", "-ginkgo.json-report="+report, fmt.Sprint("-ginkgo.seed=", round+1))
	}
	if len(p.suite.skip) > 0 {
		args = append(args, "-test.skip="+strings.Join(slices.Sorted(maps.Keys(p.suite.skip)), "|"))
	}
	cmd := exec.Command(p.path, args...)
	cmd.Dir, cmd.Env = p.workDir, append(os.Environ(), "KUBEBUILDER_ASSETS="+with.assets, "TMPDIR="+t.TempDir())
	log, err := os.Create(logFile(t, p, with, round))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	r := run{load: load()}
	start := time.Now()
	exited := cmd.Run()
	r.took = time.Since(start)
	if exit := (*exec.ExitError)(nil); exited != nil && !errors.As(exited, &exit) {
		t.Fatal(exited)
	}
	r.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if r.out, err = os.ReadFile(log.Name()); err != nil {
		t.Fatal(err)
	}
	r.cases, r.inCases = readCases(t, r.out, report)
	if exited != nil && !r.failed() {
		r.cases[whole] = testCase{outcome: failed}
	}
	return r
}

// logFile returns the file for the output of a run.
func logFile(t *testing.T, p program, with pair, round int) string {
	t.Helper()
	dir := *logsFlag
	if dir == "" {
		dir = t.TempDir()
	}
	pair, _, _ := strings.Cut(with.name, " ")
	return filepath.Join(dir, fmt.Sprintf("%s.%s.%d.log", strings.ReplaceAll(p.name(), "/", "+"), pair, round))
}

// failed reports whether a case failed.
func (r run) failed() bool {
	for _, c := range r.cases {
		if c.outcome == failed {
			return true
		}
	}
	return false
}

// ginkgo reports whether a test program runs specs of Ginkgo, and so takes its flags.
func ginkgo(t *testing.T, program string) bool {
	t.Helper()
	b, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(b, []byte("github.com/onsi/ginkgo/v2.RunSpecs"))
}

// load returns the machine's load average of a minute, or "" where the system doesn't tell.
func load() string {
	b, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(b), " ")
	return first
}
