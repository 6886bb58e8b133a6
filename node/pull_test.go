package node_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/client"
	"fairlead.dev/node"
)

// TestMissingImage: a container whose image cannot be pulled waits until the pod names
// another one.
func TestMissingImage(t *testing.T) {
	env := served(t)
	start(t, env, node.Options{Count: 1})
	pods := client.For[*corev1.Pod](env.Client).Namespace("default")
	p := boundPod("web", "node-1", "")
	p.Spec.Containers[0].Image = "nginx:does-not-exist"
	if _, err := pods.Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	await(t, pods, "web", "in back-off", waits("ImagePullBackOff", `Back-off pulling image "nginx:does-not-exist"`))
	event(t, env, "web", "Failed", "Error: ErrImagePull")
	event(t, env, "web", "BackOff", `Back-off pulling image "nginx:does-not-exist"`)
	if _, err := pods.Patch(t.Context(), "web", client.StrategicPatch(map[string]any{"spec": map[string]any{
		"containers": []any{map[string]any{"name": p.Spec.Containers[0].Name, "image": "nginx:2"}}}})); err != nil {
		t.Fatal(err)
	}
	await(t, pods, "web", "running", running)
}
