package node_test

import (
	"strings"
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

// TestUselessImage: a container whose image may not be pulled, or has no name, waits until the pod names another one.
func TestUselessImage(t *testing.T) {
	env := served(t)
	start(t, env, node.Options{Count: 1})
	pods := client.For[*corev1.Pod](env.Client).Namespace("default")
	for _, tc := range []struct {
		name, image      string
		policy           corev1.PullPolicy
		reason, told, as string
	}{
		{"never", "nonexistent", corev1.PullNever, "ErrImageNeverPull", `Container image "nonexistent" is not present with pull policy of Never`, "ErrImageNeverPull"},
		{"upper", "Nginx:1", "", "InvalidImageName", `Failed to apply default image tag "Nginx:1": couldn't parse image name "Nginx:1": invalid reference format: repository name (library/Nginx) must be lowercase`, "InspectFailed"},
		{"empty", "example.com:5000/a:", "", "InvalidImageName", `Failed to apply default image tag "example.com:5000/a:": couldn't parse image name "example.com:5000/a:": invalid reference format`, "InspectFailed"},
	} {
		p := boundPod(tc.name, "node-1", "")
		p.Spec.Containers[0].Image, p.Spec.Containers[0].ImagePullPolicy = tc.image, tc.policy
		if _, err := pods.Create(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		await(t, pods, tc.name, "waiting", waits(tc.reason, tc.told))
		event(t, env, tc.name, tc.as, tc.told)
		event(t, env, tc.name, "Failed", "Error: "+tc.reason)
		if _, err := pods.Patch(t.Context(), tc.name, client.StrategicPatch(map[string]any{"spec": map[string]any{
			"containers": []any{map[string]any{"name": "c", "image": "localhost:5000/team/web_app:v1.2@sha256:" + strings.Repeat("ab", 32)}}}})); err != nil {
			t.Fatal(err)
		}
		await(t, pods, tc.name, "running", running)
	}
}
