package node_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead.dev/node"
)

// TestInvalidSettings: a file that a kubelet would refuse is an error, and an annotation has no effect but an event.
func TestInvalidSettings(t *testing.T) {
	for text, want := range map[string]string{
		"kind: Pod": "kind Pod: want Node, KubeletConfiguration or Machine",
		"kind: Node\n---\nkind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\nport: 1": `unknown field "port"`,
		"kind: Node\n---\nkind: Machine\napiVersion: config.fairlead.dev/v1alpha1":                        "numaNodes: want 1 to 8",
		"kind: Node\nmetadata: {annotations: {fairlead.dev/system-usage: disk=1}}":                        "disk=1: want memory, ephemeral-storage or processes",
	} {
		file := filepath.Join(t.TempDir(), "node.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := node.LoadTemplate(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	inBubble(t, map[string]string{node.KubeletConfigAnnotation: kubeletConfig + `"maxPods": 7}`}, func(b *bubble) {
		pods := func() int64 {
			n, err := b.nodes.Get(b.Context(), "node-1")
			if err != nil {
				t.Fatal(err)
			}
			return n.Status.Allocatable.Pods().Value()
		}
		if n := pods(); n != 7 {
			t.Errorf("%d pods", n)
		}
		b.annotate(map[string]string{node.KubeletConfigAnnotation: kubeletConfig + `"maxPods": -1}`})
		time.Sleep(time.Second)
		b.told("node-1", "InvalidAnnotation", `fairlead.dev/kubelet-config: maxPods: Invalid value: -1: must not be negative`)
		if n := pods(); n != 7 {
			t.Errorf("%d pods with an invalid configuration", n)
		}
		b.annotate(map[string]string{node.KubeletConfigAnnotation: ""})
		time.Sleep(time.Second)
		if n := pods(); n != 110 {
			t.Errorf("%d pods without a configuration", n)
		}
	})
}
