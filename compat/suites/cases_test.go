//go:build suites

package suites

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// outcome is how a case ended.
type outcome string

const (
	passed  outcome = "passed"
	failed  outcome = "failed"
	skipped outcome = "skipped"
	absent  outcome = "not run"
)

// testCase is a test, a subtest or a spec.
type testCase struct {
	outcome outcome
	took    time.Duration
}

// ended matches the line that ends a test. With -test.v=test2json package testing marks its own lines by ^V, also after
// output without a line break.
var ended = regexp.MustCompile(`\x16\s*--- (PASS|FAIL|SKIP): (.+) \((\d+\.\d+s)\)`)

// stamp matches what differs from run to run in the names of some projects' cases: a time or a seed.
var stamp = regexp.MustCompile(`\d{6,}`)

// readCases returns the cases of a run: the tests and subtests that its output names, and the specs in Ginkgo's report.
// A name that occurs more than once is numbered. The sum is the time in the specs, or else in the tests.
func readCases(t *testing.T, out []byte, report string) (cases map[string]testCase, sum time.Duration) {
	t.Helper()
	cases = map[string]testCase{}
	add := func(name string, o outcome, took time.Duration) {
		name = stamp.ReplaceAllString(name, "N")
		unique := name
		for n := 2; cases[unique].outcome != ""; n++ {
			unique = fmt.Sprintf("%s #%d", name, n)
		}
		cases[unique] = testCase{o, took}
	}
	for _, m := range ended.FindAllSubmatch(out, -1) {
		took, err := time.ParseDuration(string(m[3]))
		if err != nil {
			t.Fatal(err)
		}
		add(string(m[2]), map[string]outcome{"PASS": passed, "FAIL": failed, "SKIP": skipped}[string(m[1])], took)
		if !strings.Contains(string(m[2]), "/") {
			sum += took
		}
	}
	b, err := os.ReadFile(report)
	if errors.Is(err, fs.ErrNotExist) {
		return cases, sum // no specs
	}
	if err != nil {
		t.Fatal(err)
	}
	var suites []struct {
		SpecReports []struct {
			ContainerHierarchyTexts []string
			LeafNodeType            string
			LeafNodeText            string
			State                   string
			RunTime                 time.Duration
		}
	}
	if err := json.Unmarshal(b, &suites); err != nil {
		t.Fatal(err)
	}
	sum = 0 // not that of the test that runs the specs, which takes longer by the start and the stop of the servers
	for _, s := range suites {
		for _, spec := range s.SpecReports {
			name := strings.Join(append(spec.ContainerHierarchyTexts, spec.LeafNodeText), " ")
			if spec.LeafNodeType == "It" {
				sum += spec.RunTime
			} else {
				name = strings.TrimSpace("[" + spec.LeafNodeType + "] " + name)
			}
			switch spec.State {
			case "passed":
				add(name, passed, spec.RunTime)
			case "skipped", "pending":
				add(name, skipped, spec.RunTime)
			default:
				add(name, failed, spec.RunTime)
			}
		}
	}
	return cases, sum
}
