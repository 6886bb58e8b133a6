//go:build autoscalers

package autoscalers

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

const groups = `
apiVersion: config.fairlead.dev/v1alpha1
kind: NodeGroups
groups:
- name: cheap
  max: 10
  pricePerHour: 0.01
  provisionTime: 1s..2s
  registrationTime: 1s
  stock: 1
  template: [{status: {capacity: {cpu: "4", memory: 16Gi}}}]
- name: dear
  max: 10
  pricePerHour: 0.2
  provisionTime: 1s..2s
  template: [{status: {capacity: {cpu: "4", memory: 16Gi}}}]
`

// TestClusterAutoscaler runs Cluster Autoscaler: pending pods bring nodes of the cheap group until it is out of stock, and then of
// the other; nodes without pods go.
func TestClusterAutoscaler(t *testing.T) {
	program := os.Getenv("CLUSTER_AUTOSCALER")
	if program == "" {
		t.Fatal("set CLUSTER_AUTOSCALER to the program: see the package's comment")
	}
	address := freeAddress(t)
	s := serve(t, "--node-groups="+write(t, "groups.yaml", groups), "--node-groups-address="+address)
	start(t, exec.Command(program, "--kubeconfig="+s.kubeconfig, "--cloud-provider=externalgrpc",
		"--cloud-config="+write(t, "cloud.yaml", "address: "+address), "--expander=price", "--address="+freeAddress(t), "--leader-elect=false",
		"--scan-interval=1s", "--scale-down-unneeded-time=5s", "--scale-down-delay-after-add=5s", "--unremovable-node-recheck-timeout=1s",
		"--initial-node-group-backoff-duration=30m", "--max-node-group-backoff-duration=30m"))

	s.deploy("web", "1500m", "4")
	s.await("rollout", "status", "deployment/web")
	if nodes := s.kubectl("", "get", "nodes", "-o", "name"); !strings.Contains(nodes, "node/dear-1") || strings.Contains(nodes, "node/cheap-2") {
		t.Errorf("four pods, two on a node, and one cheap node in stock; they run on:\n%s", nodes)
	}
	events := s.kubectl("", "get", "events", "--all-namespaces")
	for _, part := range []string{"group cheap size set to 2 instead of 0", "OUT_OF_STOCK", "group dear size set to 2 instead of 0"} {
		if !strings.Contains(events, part) {
			t.Errorf("no event %q in:\n%s", part, events)
		}
	}
	s.kubectl("", "delete", "deployment", "web")
	s.await("wait", "--for=delete", "node", "--all")
}
