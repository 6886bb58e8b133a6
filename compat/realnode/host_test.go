//go:build linux && realnode

package realnode

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestHostIsUntouched makes a second cluster, runs a pod in it, kills some of its programs, and
// removes it. The host's state is compared before, meanwhile and after.
func TestHostIsUntouched(t *testing.T) {
	const name = "second"
	must(t, Down(name))
	before := host(t)
	c, err := Up(t.Context(), Options{Name: name, Nodes: 1, Log: t.Logf})
	must(t, err)
	defer Down(name)
	pod := agnhost("default", "here", "n1")
	_, err = c.Client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
	must(t, err)
	must(t, c.UntilPod(t.Context(), "default", "here", "Ready", podReady))
	compare(t, "while the cluster runs", before, host(t))

	processes := group(name).processes()
	inGroup(t, processes, group(name))
	must(t, c.Server.Kill("fairlead"))
	must(t, c.Nodes[0].Kill("containerd", "kubelet"))
	must(t, Down(name))
	compare(t, "after it was removed", before, host(t))
	for _, pid := range processes {
		if comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil {
			t.Errorf("process %d, %s, is left", pid, comm)
		}
	}
	for _, root := range hierarchies() {
		if _, err := os.Stat(filepath.Join(root, string(group(name)))); err == nil {
			t.Errorf("cgroup %s is left in %s", group(name), root)
		}
	}
	dir, err := folder(name)
	must(t, err)
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("%s is left", dir)
	}
}

// inGroup checks that processes are in a group, or below it, in every hierarchy.
func inGroup(t *testing.T, processes []int, g cgroups) {
	t.Helper()
	for _, pid := range processes {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
		if err != nil {
			continue // it has ended
		}
		for line := range strings.Lines(string(text)) {
			if _, path, _ := strings.Cut(strings.TrimSpace(line), ":/"); !strings.HasPrefix(path, string(g)+"/") {
				t.Errorf("process %d is in the cgroup %s", pid, line)
			}
		}
	}
}

// host lists the machine's mounts, links, processes and the like, without the clusters' cgroups, as lines.
func host(t *testing.T) map[string][]string {
	t.Helper()
	state := map[string][]string{}
	for _, command := range []string{
		"findmnt --raw --noheadings --output TARGET,SOURCE,FSTYPE,OPTIONS",
		"ip -oneline link",
		"ip -oneline address",
		"ip route show table all",
		"ip netns",
		"nft list ruleset",
	} {
		words := strings.Fields(command)
		out, err := exec.Command(words[0], words[1:]...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", command, err, out)
		}
		state[command] = strings.Split(string(out), "\n")
	}
	for _, root := range hierarchies() {
		groups, err := filepath.Glob(filepath.Join(root, "*", "cgroup.procs")) // deeper ones come and go with other programs
		must(t, err)
		for _, file := range groups {
			if dir := filepath.Dir(file); !strings.HasPrefix(filepath.Base(dir), "fairlead-realnode-") {
				state["cgroups"] = append(state["cgroups"], dir)
			}
		}
	}
	for _, dir := range []string{"vm", "kernel/keys", "net"} {
		sysctlsBelow(state, filepath.Join("/proc/sys", dir))
	}
	for name := range sysctls {
		sysctlsBelow(state, filepath.Join("/proc/sys", name))
	}
	return state
}

func sysctlsBelow(state map[string][]string, at string) {
	filepath.WalkDir(at, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != "nf_conntrack_count" { // that one is a gauge
			if value, err := os.ReadFile(path); err == nil {
				state["sysctls"] = append(state["sysctls"], path+" = "+strings.TrimSpace(string(value)))
			}
		}
		return nil
	})
}

func compare(t *testing.T, when string, before, now map[string][]string) {
	t.Helper()
	for what := range before {
		if len(before[what]) == 0 {
			t.Errorf("%s: the list is empty", what)
		}
		for _, line := range now[what] {
			if !slices.Contains(before[what], line) {
				t.Errorf("%s, %s has: %s", when, what, line)
			}
		}
		for _, line := range before[what] {
			if !slices.Contains(now[what], line) {
				t.Errorf("%s, %s lacks: %s", when, what, line)
			}
		}
	}
}
