//go:build autoscalers

package autoscalers

import (
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const karpenter = "sigs.k8s.io/karpenter@v1.15.0"

//go:embed nodepool.yaml
var pool string

// TestKarpenter runs Karpenter with its provider kwok, whose Nodes Fairlead simulates: pending pods get NodeClaims and nodes, and
// consolidation removes the nodes that are not needed any more.
func TestKarpenter(t *testing.T) {
	module := unpack(t)
	program := build(t, module, "./kwok")
	s := serve(t, "--adopt-nodes")
	for _, dir := range []string{"pkg/apis/crds", "kwok/apis/crds"} {
		s.kubectl("", "apply", "--server-side", "-f", filepath.Join(module, dir))
	}
	s.await("wait", "--for=condition=Established", "crd", "--all")
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+s.kubeconfig, "SYSTEM_NAMESPACE=kube-system", "DISABLE_LEADER_ELECTION=true",
		"METRICS_PORT=0", "HEALTH_PROBE_PORT=0", "BATCH_IDLE_DURATION=1s", "KUBE_CLIENT_QPS=200", "KUBE_CLIENT_BURST=300")
	start(t, cmd)
	s.kubectl(pool, "create", "-f", "-")

	s.deploy("web", "1", "6")
	s.await("rollout", "status", "deployment/web")
	if nodes := s.kubectl("", "get", "nodes", "-l", "karpenter.sh/registered=true", "-o", "name"); nodes == "" {
		t.Error("the pods run without a node of Karpenter's")
	}
	s.await("wait", "--for=condition=Initialized", "nodeclaims", "--all")
	s.kubectl("", "delete", "deployment", "web")
	s.await("wait", "--for=delete", "nodeclaims", "--all")
	s.await("wait", "--for=delete", "nodes", "--all")
}

// unpack copies Karpenter's module to a folder.
func unpack(t *testing.T) string {
	t.Helper()
	// The module is fetched, with an error if it asks for a later Go.
	out, _ := exec.Command("go", "mod", "download", "-json", karpenter).Output()
	var m struct{ Zip, Error string }
	if err := json.Unmarshal(out, &m); err != nil || m.Zip == "" {
		t.Fatalf("%s: %v %s", karpenter, err, m.Error)
	}
	cache := strings.TrimSpace(run(t, exec.Command("go", "env", "GOMODCACHE")))
	dir := filepath.Join(t.TempDir(), "karpenter")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(cache, karpenter))); err != nil {
		t.Fatal(err)
	}
	run(t, exec.Command("go", "mod", "edit", "-go="+strings.TrimPrefix(runtime.Version(), "go"), filepath.Join(dir, "go.mod")))
	return dir
}
