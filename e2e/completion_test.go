package e2e

import (
	"slices"
	"strings"
	"testing"
)

// The shell completes the names of control planes that a server hosts, and those that are
// not on the command line yet. It completes nothing without a server.
func TestCompletionOfClusters(t *testing.T) {
	p := up(t, t.TempDir(), "--in-memory", "--clusters", "--nodes=0")
	for _, name := range []string{"one", "two"} {
		p.cluster("create", name, "--nodes=0")
	}
	complete := func(kubeconfig string, args ...string) []string {
		r := fairlead(t, append([]string{"__complete", "cluster", "--kubeconfig", kubeconfig}, args...)...)
		var names []string
		for line := range strings.Lines(r.out) {
			if !strings.HasPrefix(line, ":") { // the directive to the shell
				names = append(names, strings.TrimSpace(line))
			}
		}
		return names
	}
	for _, c := range []struct {
		args string
		want []string
	}{
		{"reset ", []string{"one", "two"}},
		{"reset one ", nil},
		{"kubeconfig ", []string{"one", "two"}},
		{"delete one ", []string{"two"}},
		{"fork three --from ", []string{"one", "two"}},
	} {
		if got := complete(p.Kubeconfig, strings.Split(c.args, " ")...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.args, got, c.want)
		}
	}
	if got := complete(deadKubeconfig(t, closedAddress(t)), "reset", ""); len(got) > 0 {
		t.Errorf("without a server: %q", got)
	}
}
