package main

import (
	"strings"
	"testing"

	"fairlead.dev/internal/controlplane"
)

// TestWhyNode: a node without a kubelet is not ready, and `why` gives the reason.
func TestWhyNode(t *testing.T) {
	a := startExplained(t, controlplane.Options{Controllers: []string{}, Nodes: 1})
	a.await("/api/v1/nodes/node-1", `"Ready"`)
	a.want("", "node/node-1", "Node node-1 is Ready")
	a.make("/api/v1/nodes",
		`{apiVersion: v1, kind: Node, metadata: {name: nobody}}`,
		`{apiVersion: v1, kind: Node, metadata: {name: dead}, spec: {unschedulable: true, taints: [{key: node.kubernetes.io/unreachable, effect: NoExecute, timeAdded: "2026-01-01T00:00:09Z"}]}}`)
	a.send("PATCH", "/api/v1/nodes/dead/status", `{status: {conditions: [{type: Ready, status: Unknown, reason: NodeStatusUnknown, message: Kubelet stopped posting node status., lastTransitionTime: "2026-01-01T00:00:09Z"}]}}`)
	a.await("/api/v1/namespaces/kube-node-lease", "Active")
	a.make("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases",
		`{metadata: {name: dead}, spec: {holderIdentity: dead, leaseDurationSeconds: 40, renewTime: "2025-12-31T23:59:20.000000Z"}}`)
	a.want("", "node/nobody", "Node nobody is Unknown", "no kubelet has reported a status", "no lease in kube-node-lease")
	a.want("", "node/dead", "Node dead is Unknown since 2026-01-01T00:00:09Z, SchedulingDisabled",
		"Kubelet stopped posting node status.", "cordoned", "not renewed its lease since 2025-12-31T23:59:20Z",
		"taint node.kubernetes.io/unreachable:NoExecute evicts the pods that do not tolerate it since 2026-01-01T00:00:09Z")
}

// TestWhyPodOfNode: `why` explains a pod by its node, if that is not ready or does not exist.
func TestWhyPodOfNode(t *testing.T) {
	a := startExplained(t, controlplane.Options{Controllers: []string{"serviceaccount"}})
	a.await(core+"serviceaccounts/default", "default")
	a.make("/api/v1/nodes", `{apiVersion: v1, kind: Node, metadata: {name: dead}}`)
	a.send("PATCH", "/api/v1/nodes/dead/status", `{status: {conditions: [{type: Ready, status: Unknown, reason: NodeStatusUnknown, message: Kubelet stopped posting node status., lastTransitionTime: "2026-01-01T00:00:09Z"}]}}`)
	a.make(core+"pods",
		`{metadata: {name: new}, spec: {nodeName: dead, containers: [{name: c, image: nginx}]}}`,
		`{metadata: {name: old}, spec: {nodeName: dead, containers: [{name: c, image: nginx}]}}`,
		`{metadata: {name: lost}, spec: {nodeName: gone, containers: [{name: c, image: nginx}]}}`)
	a.send("PATCH", core+"pods/old/status", `{status: {phase: Running, containerStatuses: [{name: c, ready: true, state: {running: {}}, image: nginx, imageID: "", restartCount: 0}]}}`)
	const dead = "Node dead is Unknown since 2026-01-01T00:00:09Z"
	a.want("default", "pod/new", "Pod default/new is Pending", dead, "Kubelet stopped posting node status.")
	a.want("default", "pod/old", "Pod default/old is Running", dead)
	a.want("default", "pod/lost", "Pod default/lost is Pending", "its Node gone does not exist")
	a.send("DELETE", core+"pods/old", `{}`)
	a.want("default", "pod/old", "Pod default/old is terminating", dead)
}

// TestWhyService: `why` counts a service's endpoints, and explains why it has no ready ones.
func TestWhyService(t *testing.T) {
	a := startExplained(t, controlplane.Options{Controllers: []string{"endpointslice", "nodelifecycle", "serviceaccount"}, Scheduler: true, Nodes: 1})
	a.await(core+"serviceaccounts/default", "default")
	a.make(core+"services",
		`{metadata: {name: nobody}, spec: {selector: {app: nobody, tier: front}, ports: [{port: 80}]}}`,
		`{metadata: {name: waiting}, spec: {selector: {app: waiting}, ports: [{port: 80}]}}`,
		`{metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80}]}}`,
		`{metadata: {name: far}, spec: {type: ExternalName, externalName: far.example.com}}`)
	a.make(core+"pods",
		`{metadata: {name: waiting, labels: {app: waiting}}, spec: {nodeSelector: {no: such}, containers: [{name: c, image: nginx}]}}`,
		`{metadata: {name: web, labels: {app: web}}, spec: {containers: [{name: c, image: nginx}]}}`)
	a.want("default", "service/nobody", "Service default/nobody has no ready endpoints", "its selector app=nobody,tier=front matches no pod")
	a.want("default", "service/waiting", "has no ready endpoints", "0 of the 1 pods that match its selector app=waiting are ready", "Pod default/waiting is Pending")
	a.want("default", "service/web", "Service default/web has 1 of 1 endpoints ready")
	a.want("default", "service/far", "is an alias of far.example.com")
}

// TestWhyInOrder: entries with a time are in the order of time.
func TestWhyInOrder(t *testing.T) {
	a := startExplained(t, controlplane.Options{Controllers: []string{"deployment", "nodelifecycle", "replicaset", "serviceaccount"}, Scheduler: true, Nodes: 1})
	a.await(core+"serviceaccounts/default", "default")
	a.make(apps+"deployments", `{metadata: {name: web}, spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: nginx}]}}}}`)
	text := a.want("default", "deployment/web", "seen by deployment", "ScalingReplicaSet", "1 of 1 replicas ready")
	last, head := "", ""
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if strings.Count(fields[0], ":") != 2 {
			head, last = line, ""
			continue
		}
		if fields[0][:8] < last {
			t.Errorf("%s comes after %s of %s%s", fields[0], last, head, text)
		}
		last = fields[0][:8]
	}
}
