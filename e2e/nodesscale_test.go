package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// scale runs `fairlead nodes scale` against a server, and returns its output.
func (p *process) scale(args ...string) string {
	p.t.Helper()
	cmd := exec.Command(bin.fairlead, append([]string{"nodes", "scale", "--kubeconfig", p.Kubeconfig}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("nodes scale %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// nodeNames returns the names of all nodes.
func (p *process) nodeNames() string {
	p.t.Helper()
	return strings.Join(strings.Fields(p.kubectl("get", "nodes", "-o", "name")), " ")
}

// TestNodesScale scales the nodes of a running server up and down, adds some of another kind, and starts the server again.
func TestNodesScale(t *testing.T) {
	dir := t.TempDir()
	p := up(t, dir, "--nodes=2", "--node-zones=a,b")
	p.settled()
	expect(t, "nodes scale 4", p.scale("4"), "4 simulated: ")
	p.kubectl("create", "deployment", "web", "--image=nginx", "--replicas=8")
	p.kubectl("rollout", "status", "deployment/web", "--timeout="+patience.String())
	expect(t, "pods", p.kubectl("get", "pods", "-o", "wide"), "node-4")
	const zones = `jsonpath={.items[*].metadata.labels.topology\.kubernetes\.io/zone}`
	if got := p.kubectl("get", "nodes", "-o", zones); strings.TrimSpace(got) != "a b a b" {
		t.Errorf("zones of four nodes: %q", got)
	}
	expect(t, "nodes scale 1", p.scale("1"), "1 simulated: 0 created, 3 deleted")
	template := filepath.Join(t.TempDir(), "gpu.yaml")
	if err := os.WriteFile(template, []byte("metadata: {labels: {kind: gpu}}\nstatus: {capacity: {example.com/gpu: 8}}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.scale("2", "--prefix=gpu-", "--node-template="+template)
	const gpus = "jsonpath={.items[*].status.allocatable.example\\.com/gpu}"
	if got := p.kubectl("get", "nodes", "-l", "kind=gpu", "-o", gpus); strings.TrimSpace(got) != "8 8" {
		t.Errorf("GPUs of the nodes: %q", got)
	}
	if got := p.nodeNames(); got != "node/gpu-1 node/gpu-2 node/node-1" {
		t.Errorf("nodes: %s", got)
	}
	p.stop()

	p = up(t, dir, "--nodes=2")
	p.kubectl("wait", "--for=create", "node/node-2", "--timeout="+patience.String())
	p.kubectl("run", "again", "--image=nginx", `--overrides={"spec":{"nodeName":"gpu-2"}}`)
	p.kubectl("wait", "--for=condition=Ready", "pod/again", "--timeout="+patience.String())
	if got := p.nodeNames(); got != "node/gpu-1 node/gpu-2 node/node-1 node/node-2" {
		t.Errorf("nodes after the restart: %s", got)
	}
	p.stop()
}

// TestNodeZonesRefused checks the errors of --node-zones.
func TestNodeZonesRefused(t *testing.T) {
	template := writeFile(t, "metadata: {labels: {topology.kubernetes.io/zone: c}}\n")
	for args, want := range map[string]string{
		"--node-zones=a,,b":                          "a zone is empty",
		"--node-zones=a,b/c":                         `"b/c" is not the value of a label`,
		"--node-zones=a --node-template=" + template: "the template has the label topology.kubernetes.io/zone",
	} {
		expect(t, args, refused(t, 2, append([]string{"up", "--in-memory"}, strings.Fields(args)...)...), want)
	}
}

// TestNodesScaleRefused checks the errors of wrong arguments, of a node that is not simulated, and of nodes that no process
// simulates.
func TestNodesScaleRefused(t *testing.T) {
	p := up(t, t.TempDir(), "--in-memory", "--nodes=0")
	for arg, want := range map[string]string{"many": "want the number of nodes", "-1": "", "2 3": "takes the number of nodes", "--prefix=A_ 2": "--prefix=A_"} {
		expect(t, arg, refused(t, 2, append([]string{"nodes", "scale", "--kubeconfig", p.Kubeconfig}, strings.Fields(arg)...)...), want)
	}
	args := []string{"nodes", "scale", "--kubeconfig", p.Kubeconfig, "--timeout=2s", "1"}
	oneLine(t, refused(t, 1, args...), "0 of 1 nodes are Ready: does a process simulate them?", "--adopt-nodes=false")
	p.kubectl("delete", "node", "node-1")
	p.kubectl("create", "-f", writeFile(t, "apiVersion: v1\nkind: Node\nmetadata: {name: node-1}\n"))
	oneLine(t, refused(t, 1, args...), "the node node-1 is not simulated: choose other names with --prefix")
	p.stop()
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "object.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}
