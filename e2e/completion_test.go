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
		return completions(t, append([]string{"cluster", "--kubeconfig", kubeconfig}, args...)...)
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

// completions returns the shell's offers after the arguments, of which the last is the word that is being typed.
func completions(t *testing.T, args ...string) []string {
	t.Helper()
	r := fairlead(t, append([]string{"__complete"}, args...)...)
	var names []string
	for line := range strings.Lines(r.out) {
		if !strings.HasPrefix(line, ":") { // the directive to the shell
			names = append(names, strings.TrimSpace(line))
		}
	}
	return names
}

// The shell completes kinds, names, namespaces, controllers, and the values of flags.
func TestCompletionOfValues(t *testing.T) {
	p := up(t, t.TempDir(), "--in-memory", "--nodes=0")
	p.kubectl("create", "namespace", "shop")
	p.kubectl("create", "configmap", "prices", "-n", "shop")
	for _, c := range []struct {
		args string
		want []string
	}{
		{"why deployments", []string{"deployments/"}},
		{"why -n shop configmap/p", []string{"configmap/prices"}},
		{"trace -n shop cm pri", []string{"prices"}},
		{"trace cm prices ", nil},
		{"trace -n sh", []string{"shop"}},
		{"why -o ", []string{"json", "yaml"}},
		{"fault add re", []string{"reorder"}},
		{"fault add fail --verb deletec", []string{"deletecollection"}},
		{"fault add fail --kind persistentvolumec", []string{"persistentvolumeclaims"}},
		{"up --clock ", []string{"real", "virtual"}},
		{"up --controllers *,-garbage", []string{"*,-garbagecollector"}},
		{"addon apply core", []string{"coredns"}},
		{"up ", nil},
	} {
		args := append([]string{strings.Fields(c.args)[0]}, strings.Split(c.args, " ")[1:]...)
		if !strings.HasPrefix(c.args, "up") {
			args = append([]string{args[0], "--kubeconfig", p.Kubeconfig}, args[1:]...)
		}
		if got := completions(t, args...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.args, got, c.want)
		}
	}
	p.stop()
}
