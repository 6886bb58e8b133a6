//go:build conformance

package conformance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/ginkgo/v2/types"
	"go.yaml.in/yaml/v2"
	"k8s.io/kubernetes/test/conformance/testdata"
)

// shares is how many servers there are. A spec mostly waits, so there are more of them
// than processors.
const shares = 8

// marks are the possible marks before a spec in specs.txt.
const marks = "+cnwat"

// readSpecs returns the marks of all specs by name.
func readSpecs(t *testing.T) map[string]byte {
	f, err := os.Open("specs.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	specs := map[string]byte{}
	for in := bufio.NewScanner(f); in.Scan(); {
		mark, name, ok := strings.Cut(in.Text(), " ")
		switch {
		case mark == "" || mark == "#":
		case !ok || len(mark) != 1 || !strings.Contains(marks, mark) || specs[name] != 0:
			t.Fatalf("specs.txt: %q", in.Text())
		default:
			specs[name] = mark[0]
		}
	}
	return specs
}

// TestEverySpecIsListed compares specs.txt with Kubernetes' list of conformance tests.
func TestEverySpecIsListed(t *testing.T) {
	text, err := testdata.GetConformanceTestdataFS().ReadTestFile("test/conformance/testdata/conformance.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all []struct{ Codename string }
	if err := yaml.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	specs, count := readSpecs(t), map[byte]int{}
	for _, one := range all {
		if specs[one.Codename] == 0 {
			t.Errorf("not in specs.txt: %s", one.Codename)
		}
		count[specs[one.Codename]]++
		delete(specs, one.Codename)
	}
	for name := range specs {
		t.Errorf("not a conformance test: %s", name)
	}
	for _, mark := range slices.Sorted(maps.Keys(count)) {
		t.Logf("%c %d", mark, count[mark])
	}
}

// TestConformance runs the specs that must pass.
func TestConformance(t *testing.T) {
	var names []string
	for name, mark := range readSpecs(t) {
		if mark == '+' {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	fairlead := filepath.Join(t.TempDir(), "fairlead")
	build := exec.Command("go", "build", "-o", fairlead, "./cmd/fairlead")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for i := range shares {
		var share []string // neighbours are much alike, so each gets some of all
		for j := i; j < len(names); j += shares {
			share = append(share, names[j])
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			runShare(t, fairlead, share)
		})
	}
}

// runShare runs specs one after the other against a server that only they use.
func runShare(t *testing.T, fairlead string, names []string) {
	kubeconfig, dir := serve(t, fairlead), t.TempDir()
	focus := make([]string, len(names))
	for i, name := range names {
		focus[i] = regexp.QuoteMeta(name) + "$"
	}
	report := filepath.Join(dir, "report.json")
	cmd := exec.Command(os.Args[0], "-test.run=^TestSuite$", "-test.timeout=0",
		"-kubeconfig="+kubeconfig, "-provider=skeleton", "-dump-logs-on-failure=false",
		"-ginkgo.focus="+strings.Join(focus, "|"), "-ginkgo.json-report="+report, "-ginkgo.no-color", "-ginkgo.timeout=1h")
	cmd.Env = append(os.Environ(), child+"=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	failed := cmd.Run()
	data, err := os.ReadFile(report)
	if err != nil {
		t.Fatalf("%v, %v\n%s", failed, err, out.Bytes())
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
	for _, name := range names {
		spec, ran := state[name]
		switch {
		case !ran || spec.State == types.SpecStateSkipped:
			t.Errorf("did not run: %s", name)
		case !spec.State.Is(types.SpecStatePassed):
			t.Errorf("%s: %s\n%s\n%s", spec.State, name, spec.FailureMessage(), spec.CapturedGinkgoWriterOutput)
		default:
			t.Logf("passed in %6.2f s: %s", spec.RunTime.Seconds(), name)
		}
	}
}
