//go:build integration

package integration

import (
	"bufio"
	"os"
	"strings"
	"testing"
)

// reasons are the needs of the tests with a mark.
var reasons = map[byte]string{
	'i': "the scheduler in its own process",
	'g': "a feature gate that Fairlead does not switch",
	'x': "a feature that Fairlead lacks",
}

// readTests returns the marks of the tests in tests.txt, by package and name.
func readTests(t *testing.T) map[string]map[string]byte {
	t.Helper()
	f, err := os.Open("tests.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := map[string]map[string]byte{}
	for in := bufio.NewScanner(f); in.Scan(); {
		line := in.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.SplitN(line, " ", 3)
		if len(parts) != 3 || len(parts[0]) != 1 || parts[0] != "+" && reasons[parts[0][0]] == "" || all[parts[1]][parts[2]] != 0 {
			t.Fatalf("tests.txt: %q", line)
		}
		if all[parts[1]] == nil {
			all[parts[1]] = map[string]byte{}
		}
		all[parts[1]][parts[2]] = parts[0][0]
	}
	return all
}
