package node_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/client"
	"fairlead.dev/node"
)

const template = `
apiVersion: v1
kind: Node
metadata:
  labels: {team: a, kubernetes.io/arch: arm64}
  annotations: {note: x}
spec:
  taints: [{key: dedicated, value: gpu, effect: NoSchedule}]
status:
  capacity: {cpu: "64", example.com/gpu: "8"}
  allocatable: {cpu: "63"}
  nodeInfo: {architecture: arm64, osImage: Someone's}
  images: [{names: [big:1], sizeBytes: 1000000000}]
`

// TestTemplate makes a node of a file; options take precedence over it.
func TestTemplate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "node.yaml")
	if err := os.WriteFile(file, []byte(template), 0o600); err != nil {
		t.Fatal(err)
	}
	made, err := node.LoadTemplate(file)
	if err != nil {
		t.Fatal(err)
	}
	capacity, err := node.ParseCapacity(map[string]string{"memory": "1Gi", "example.com/gpu": "2"})
	if err != nil {
		t.Fatal(err)
	}
	env := served(t)
	nodes := client.For[*corev1.Node](env.Client)
	start(t, env, node.Options{Count: 1, Template: made, Capacity: capacity, Labels: map[string]string{"team": "b"}})
	n := await(t, nodes, "node-1", "ready", ready)
	if n.Labels["team"] != "b" || n.Labels["kubernetes.io/arch"] != "arm64" || n.Labels[corev1.LabelHostname] != "node-1" || n.Annotations["note"] != "x" {
		t.Errorf("metadata: %+v", n.ObjectMeta)
	}
	if len(n.Spec.Taints) == 0 || n.Spec.Taints[0].Key != "dedicated" || n.Spec.PodCIDR == "" {
		t.Errorf("spec: %+v", n.Spec)
	}
	s := &n.Status
	gpu, free := s.Capacity["example.com/gpu"], s.Allocatable["cpu"]
	if gpu.String() != "2" || s.Capacity.Cpu().String() != "64" || free.String() != "63" || s.Capacity.Memory().String() != "1Gi" || s.Capacity.Pods().String() != "110" {
		t.Errorf("capacity %v, allocatable %v", s.Capacity, s.Allocatable)
	}
	if s.NodeInfo.OSImage != "Someone's" || s.NodeInfo.KernelVersion == "" || len(s.Images) != 1 {
		t.Errorf("status: %+v", s)
	}
}

func TestCapacityRefuses(t *testing.T) {
	for _, text := range []string{"many", "-1", ""} {
		if _, err := node.ParseCapacity(map[string]string{"cpu": text}); err == nil || !strings.Contains(err.Error(), "cpu="+text) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
