//go:build integration

package integration

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// leftOut are the plugins that tests give the scheduler and that admit all pods in the tests marked +, by package.
var leftOut = map[string]string{"scheduler/preemption": "filter-plugin"}

// TestIntegration runs the tests of tests.txt that are marked + and names the others.
func TestIntegration(t *testing.T) {
	build := layOut(t)
	fairlead := filepath.Join(t.TempDir(), "fairlead")
	run(t, "../..", "go", "build", "-o", fairlead, "./cmd/fairlead")
	all := readTests(t)
	for _, of := range slices.Sorted(maps.Keys(all)) {
		t.Run(of, func(t *testing.T) {
			if !slices.Contains(slices.Collect(maps.Values(all[of])), '+') {
				compare(t, all[of], nil)
				return
			}
			program := filepath.Join(t.TempDir(), "it.test")
			run(t, "..", "go", slices.Concat([]string{"test", "-c", "-vet=off", "-ldflags=-w", "-o", program}, build, []string{kubernetes + "/test/integration/" + of})...)
			env := []string{"FAIRLEAD_INTEGRATION_PROGRAM=" + fairlead, "FAIRLEAD_INTEGRATION_LEAVE_OUT=" + leftOut[of]}
			compare(t, all[of], results(t, env, program, all[of]))
		})
	}
}

// results runs a test program and returns the outcome of each of its tests: pass, fail or skip.
func results(t *testing.T, env []string, program string, tests map[string]byte) map[string]outcome {
	t.Helper()
	args := []string{"tool", "test2json", "-t", program, "-test.v=test2json", "-test.timeout=40m"}
	if skip := skipped(tests); skip != "" && os.Getenv("FAIRLEAD_INTEGRATION_SCHEDULER") != "upstream" {
		args = append(args, "-test.skip="+skip)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = filepath.Dir(program)
	cmd.Env = append(os.Environ(), env...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	all := map[string]outcome{}
	for d := json.NewDecoder(bufio.NewReader(out)); ; {
		var e struct{ Action, Test, Output string }
		if err := d.Decode(&e); err != nil {
			if !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			break
		}
		o := all[e.Test]
		switch e.Action {
		case "output":
			o.said += e.Output
		case "pass", "fail", "skip":
			o.action = e.Action
		}
		all[e.Test] = o
	}
	if err := cmd.Wait(); err != nil && all[""].action != "fail" {
		t.Errorf("%v\n%s", err, &errs)
	}
	delete(all, "")
	return all
}

// outcome is that of one test.
type outcome struct{ action, said string }

// compare reports the tests whose outcome is not that of tests.txt, and counts the others.
func compare(t *testing.T, want map[string]byte, all map[string]outcome) {
	passed, leaves := 0, 0
	for name, o := range all {
		top, _, sub := strings.Cut(name, "/")
		isLeaf := !slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(other string) bool { return strings.HasPrefix(other, name+"/") })
		switch {
		case !sub && want[top] == 0:
			t.Errorf("not in tests.txt: %s", name)
		case o.action == "fail" && isLeaf:
			t.Errorf("%s fails\n%s", name, o.said)
		case o.action == "fail" && !sub:
			t.Errorf("%s fails", name)
		case o.action == "skip":
			t.Errorf("%s skips itself\n%s", name, o.said)
		case o.action == "":
			t.Errorf("%s did not end\n%s", name, o.said)
		}
		if o.action == "pass" && !sub {
			passed++
		}
		if o.action == "pass" && isLeaf {
			leaves++
		}
	}
	missing := 0
	for name, mark := range want {
		switch {
		case mark != '+':
			missing++
			t.Logf("NOT RUN, for it needs %s: %s", reasons[mark], name)
		case all[name].action == "":
			t.Errorf("there is no test %s", name)
		}
	}
	t.Logf("%d tests pass, of %d with their subtests; %d are not run", passed, leaves, missing)
}

// skipped returns the pattern of the tests that are not run.
func skipped(tests map[string]byte) string {
	var all []string
	for name, mark := range tests {
		if mark == '+' {
			continue
		}
		var parts []string
		for _, part := range strings.Split(name, "/") {
			parts = append(parts, "^"+strings.ReplaceAll(regexp.QuoteMeta(part), `\*`, ".*")+"$")
		}
		all = append(all, strings.Join(parts, "/"))
	}
	slices.Sort(all)
	return strings.Join(all, "|")
}

func run(t *testing.T, dir, program string, args ...string) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
}
