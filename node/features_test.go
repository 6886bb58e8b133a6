package node_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/client"
	"fairlead.dev/node"
)

// TestDeclaredFeatures: a node declares the features of its kubelet's version, unless a template has others.
func TestDeclaredFeatures(t *testing.T) {
	env := served(t)
	nodes := client.For[*corev1.Node](env.Client)
	template := func(status string) *corev1.Node {
		n, err := node.ParseTemplate([]byte(`{"kind": "Node", "apiVersion": "v1", "status": ` + status + `}`))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	own := []string{"InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScalingInitContainers", "RestartAllContainersOnContainerExits"}
	for _, c := range []struct {
		name    string
		options node.Options
		want    []string
	}{
		{"server", node.Options{}, own},
		{"new", node.Options{KubeletVersion: "v1.36.0"}, own},
		{"old", node.Options{KubeletVersion: "v1.35.9"}, nil},
		{"given", node.Options{Template: template(`{"declaredFeatures": ["A", "B"]}`)}, []string{"A", "B"}},
		{"none", node.Options{Template: template(`{"declaredFeatures": []}`)}, nil},
		{"oldtemplate", node.Options{Template: template(`{"nodeInfo": {"kubeletVersion": "v1.30.1"}}`)}, nil},
	} {
		c.options.Count, c.options.NamePrefix = 1, c.name+"-"
		stop := start(t, env, c.options)
		n := await(t, nodes, c.name+"-1", "ready", ready)
		if !slices.Equal(n.Status.DeclaredFeatures, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, n.Status.DeclaredFeatures, c.want)
		}
		stop()
	}
}
