package node_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"fairlead.dev/client"
	"fairlead.dev/internal/node/kwok"
	"fairlead.dev/node"
)

const labelled = `
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: mark}
spec:
  resourceRef: {kind: Pod}
  selector:
    matchExpressions:
    - {key: .status.phase, operator: In, values: [Running]}
    - {key: .metadata.labels.mark, operator: DoesNotExist}
  next:
    patches: [{type: merge, template: "metadata: {labels: {mark: made}}"}]
`

// TestKinds: definitions from objects of the server take effect at once, also for running
// pods; invalid ones get an event.
func TestKinds(t *testing.T) {
	env := served(t)
	ctx := t.Context()
	kinds, err := kwok.Kinds("Stage", "ClusterLogs")
	if err != nil {
		t.Fatal(err)
	}
	run := node.New(env, node.Options{Count: 1, Kinds: kinds})
	startNodes(t, run)
	pods := client.For[*corev1.Pod](env.Client).Namespace("default")
	if _, err := pods.Create(ctx, boundPod("a", "node-1", "")); err != nil {
		t.Fatal(err)
	}
	await(t, pods, "a", "running", running)
	apply := func(text string) {
		t.Helper()
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
			t.Fatal(err)
		}
		for _, k := range kinds {
			if k.Kind == o.GetKind() {
				if _, err := client.Dynamic(env.Client, k.Resource, k.Namespaced).Create(ctx, o); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	apply(labelled)
	await(t, pods, "a", "marked", func(p *corev1.Pod) bool { return p.Labels["mark"] == "made" })

	apply("{apiVersion: kwok.x-k8s.io/v1alpha1, kind: Stage, metadata: {name: bad}, spec: {resourceRef: {kind: Pod}, selector: {matchExpressions: [{key: '.[', operator: Exists}]}}}")
	events := client.For[*corev1.Event](env.Client).Namespace("default")
	w, err := events.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for {
		ev, err := w.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if e := ev.Object; e.Reason == "Invalid" && e.InvolvedObject.Kind == "Stage" && e.InvolvedObject.Name == "bad" {
			break
		}
	}
}
