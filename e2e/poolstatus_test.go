package e2e

import (
	"strings"
	"testing"
)

// TestPoolStatusExpires: a server with the feature gate answers a ResourcePoolStatusRequest, and deletes it an hour later.
func TestPoolStatusExpires(t *testing.T) {
	p := up(t, t.TempDir(), "--in-memory", "--clock=virtual", "--nodes=0",
		"--feature-gates=DRAResourcePoolStatus=true", "--runtime-config=resource.k8s.io/v1alpha3/resourcepoolstatusrequests=true")
	defer p.stop()
	const answered, waiting = "resourcepoolstatusrequest/answered", "resourcepoolstatusrequest/waiting"
	p.kubectlWithInput(`
apiVersion: resource.k8s.io/v1alpha3
kind: ResourcePoolStatusRequest
metadata: {name: answered}
spec: {driver: none.example.com}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: first}
spec: {driver: gpu.example.com, allNodes: true, pool: {name: p, generation: 1, resourceSliceCount: 2}, devices: [{name: gpu-0}]}
---
apiVersion: resource.k8s.io/v1alpha3
kind: ResourcePoolStatusRequest
metadata: {name: waiting}
spec: {driver: gpu.example.com}
`, "apply", "-f", "-")
	p.clock("advance", "1m")
	if got := p.kubectl("get", answered, "-o", "jsonpath={.status.poolCount} {.status.conditions[0].type}"); got != "0 Complete" {
		t.Errorf("the answer: %q", got)
	}
	p.clock("advance", "58m")
	p.kubectl("get", answered)
	p.clock("advance", "2m")
	if text := p.kubectlFails("get", answered); !strings.Contains(text, "not found") {
		t.Errorf("after an hour: %s", text)
	}
	p.clock("advance", "22h58m")
	p.kubectl("get", waiting)
	p.clock("advance", "2m")
	if text := p.kubectlFails("get", waiting); !strings.Contains(text, "not found") {
		t.Errorf("after a day: %s", text)
	}
}
