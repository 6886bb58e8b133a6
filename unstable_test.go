package fairlead_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// maxUnstable is how long .ci/unstable may list a test.
const maxUnstable = 14 * 24 * time.Hour

var unstableLine = regexp.MustCompile(`^(\d{4}-\d\d-\d\d) fairlead\.dev\S*\.(?:Test|Fuzz|Example)\S* \S+ \S+ \S`)

// checkUnstable returns the faults of a list of unstable tests at the time now.
func checkUnstable(list string, now time.Time) (wrong []string) {
	lines := bufio.NewScanner(strings.NewReader(list))
	for lines.Scan() {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		m := unstableLine.FindStringSubmatch(line)
		if m == nil {
			wrong = append(wrong, "want a date, a test and the suspected cause: "+line)
			continue
		}
		at, err := time.Parse(time.DateOnly, m[1])
		switch age := now.Sub(at); {
		case err != nil:
			wrong = append(wrong, err.Error())
		case age > maxUnstable:
			wrong = append(wrong, fmt.Sprintf("unstable for %d days; repair it: %s", int(age.Hours()/24), line))
		case age < -24*time.Hour:
			wrong = append(wrong, "later than the last commit: "+line)
		}
	}
	return wrong
}

// TestUnstable checks that .ci/unstable lists a test for two weeks at most. The date of the last commit
// counts, not the clock: a commit that passed passes later, too.
func TestUnstable(t *testing.T) {
	list, err := os.ReadFile(".ci/unstable")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("git", "log", "-1", "--format=%cI").Output()
	if err != nil {
		t.Skip("not a git repository: ", err)
	}
	now, err := time.Parse(time.RFC3339, strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range checkUnstable(string(list), now) {
		t.Error(w)
	}
}

func TestCheckUnstable(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for list, want := range map[string]string{
		"# a comment\n\n": "",
		"2026-11-23 fairlead.dev/node.TestMany compares two clocks":  "",
		"2026-11-10 fairlead.dev/node.TestMany compares two clocks":  "",
		"2026-11-08 fairlead.dev/node.TestMany compares two clocks":  "unstable for 15 days",
		"2026-11-25 fairlead.dev/node.TestMany compares two clocks":  "later than the last commit",
		"2026-13-01 fairlead.dev/node.TestMany compares two clocks":  "month out of range",
		"2026-11-23 fairlead.dev/node.TestMany":                      "want a date",
		"2026-11-23 TestMany compares two clocks":                    "want a date",
		"2026-11-23  fairlead.dev/node.TestMany compares two clocks": "want a date",
	} {
		got := strings.Join(checkUnstable(list, now), "\n")
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: got %q, want %q", list, got, want)
		}
	}
}

// TestReruns checks which tests .ci/reruns takes from gotestsum's report, and when it fails.
func TestReruns(t *testing.T) {
	dir := t.TempDir()
	report, list, end := filepath.Join(dir, "report"), filepath.Join(dir, "list"), filepath.Join(dir, "end")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(list, "# fairlead.dev/b.TestB in a comment does not count\n2026-11-23 fairlead.dev/a.TestA compares two clocks\n")
	for _, c := range []struct {
		name, report string
		lines        []string
		fails        bool
	}{
		{"nothing", "", nil, false},
		{"known", "fairlead.dev/a.TestA: 2 runs, 1 failures\n", []string{"fairlead.dev/a.TestA failed 1 of 2 times (known"}, false},
		{"a subtest", "fairlead.dev/a.TestA/HTTP/1.1: 2 runs, 1 failures\nfairlead.dev/a.TestA: 2 runs, 1 failures\n", []string{"fairlead.dev/a.TestA failed 1 of 2 times (known"}, false},
		{"not known", "fairlead.dev.TestA: 3 runs, 2 failures\n", []string{"fairlead.dev.TestA failed 2 of 3 times (NOT KNOWN)"}, true},
		{"a longer name", "fairlead.dev/a.TestAB: 2 runs, 1 failures\n", []string{"fairlead.dev/a.TestAB failed 1 of 2 times (NOT KNOWN)"}, true},
		{"in a comment", "fairlead.dev/b.TestB: 2 runs, 1 failures\n", []string{"fairlead.dev/b.TestB failed 1 of 2 times (NOT KNOWN)"}, true},
		{"failed each time", "fairlead.dev/c.TestC: 3 runs, 3 failures\n", nil, false},
	} {
		for _, strict := range []bool{false, true} {
			write(report, c.report)
			write(end, "")
			cmd := exec.Command(".ci/reruns", report, list)
			cmd.Env = append(os.Environ(), "FAIRLEAD_CI_RERUNS="+end, "FAIRLEAD_CI_STRICT=", "GITHUB_ACTIONS=")
			if strict {
				cmd.Env = append(cmd.Env, "FAIRLEAD_CI_STRICT=1")
			}
			err := cmd.Run()
			if fails := strict && c.fails; (err != nil) != fails {
				t.Errorf("%s, strict %v: %v", c.name, strict, err)
			}
			text, err := os.ReadFile(end)
			if err != nil {
				t.Fatal(err)
			}
			got := slices.Collect(strings.Lines(string(text)))
			if !slices.EqualFunc(got, c.lines, strings.Contains) {
				t.Errorf("%s, strict %v: got %q", c.name, strict, got)
			}
		}
	}
}

// TestHung checks which tests .ci/hung takes from the events of go test -json.
func TestHung(t *testing.T) {
	dir := t.TempDir()
	events, end := filepath.Join(dir, "events"), filepath.Join(dir, "end")
	event := func(pkg, output string) string {
		return fmt.Sprintf(`{"Time":"2026-11-30T07:00:00Z","Action":"output","Package":"fairlead.dev/%s","Test":"TestA","Output":"%s"}`+"\n", pkg, output)
	}
	timeout := func(pkg string, tests ...string) string {
		text := event(pkg, `panic: test timed out after 12m0s\n`) + event(pkg, `\trunning tests:\n`)
		for _, test := range tests {
			text += event(pkg, `\t\t`+test+` (11m2s)\n`)
		}
		return text + event(pkg, `goroutine 1 [chan receive, 11 minutes]:\n`)
	}
	for _, c := range []struct {
		name, events string
		lines        []string
	}{
		{"nothing", "", nil},
		{"a panic", event("a", `panic: runtime error\n`) + event("a", `\t\tTestA (1s)\n`), nil},
		{"a timeout", timeout("a", "TestA"), []string{"fairlead.dev/a.TestA hung, which ended its package after 12m0s"}},
		{"of two tests", timeout("a", "TestA", "FuzzB/seed"), []string{"fairlead.dev/a.TestA hung", "fairlead.dev/a.FuzzB/seed hung"}},
		{"in two packages", timeout("a", "TestA") + timeout("b", "TestB"), []string{"fairlead.dev/a.TestA hung", "fairlead.dev/b.TestB hung"}},
		{"a data race", event("b", `WARNING: DATA RACE\n`) + timeout("a", "TestA"), nil},
	} {
		for path, text := range map[string]string{events: c.events, end: ""} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(".ci/hung", events)
		cmd.Env = append(os.Environ(), "FAIRLEAD_CI_RERUNS="+end, "GITHUB_ACTIONS=")
		if err := cmd.Run(); (err == nil) != (len(c.lines) > 0) {
			t.Errorf("%s: %v", c.name, err)
		}
		text, err := os.ReadFile(end)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Collect(strings.Lines(string(text))); !slices.EqualFunc(got, c.lines, strings.Contains) {
			t.Errorf("%s: got %q", c.name, got)
		}
	}
}
