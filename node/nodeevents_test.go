package node_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/node"
)

// TestNodeEvents: StartEvents and AllEvents write a kubelet's events of nodes; only AllEvents writes those of its start.
func TestNodeEvents(t *testing.T) {
	env := served(t)
	ctx := t.Context()
	nodes, events := client.For[*corev1.Node](env.Client), client.For[*corev1.Event](env.Client).Namespace("default")
	patch := func(name string, p client.Patch) {
		t.Helper()
		if _, err := nodes.Patch(ctx, name, p); err != nil {
			t.Fatal(err)
		}
	}
	told := func(name, reason string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		w, err := events.Watch(ctx, metav1.ListOptions{FieldSelector: "reason=" + reason + ",involvedObject.name=" + name, ResourceVersion: "0"})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		if _, err := w.Next(ctx); err != nil {
			t.Fatalf("nobody told of %s: %v", reason, err)
		}
	}
	for _, tc := range []struct {
		name  string
		level node.Events
		want  []string
	}{
		{"quiet", node.NoEvents, nil},
		{"some", node.StartEvents, []string{"NodeHasSufficientMemory", "NodeNotSchedulable", "NodeReady", "NodeSchedulable", "Rebooted"}},
		{"all", node.AllEvents, []string{"NodeAllocatableEnforced", "NodeHasNoDiskPressure", "NodeHasSufficientMemory", "NodeHasSufficientPID", "NodeNotSchedulable", "NodeReady", "NodeSchedulable", "Rebooted", "Starting"}},
	} {
		name := tc.name + "-1"
		recorder := client.NewRecorder(env.Client, "kubelet")
		mine := env
		mine.Recorder = recorder
		o := node.Options{Count: 1, NamePrefix: tc.name + "-", Events: tc.level}
		stop := start(t, mine, o)
		await(t, nodes, name, "ready", ready)
		if tc.level == node.AllEvents {
			told(name, "NodeHasSufficientPID") // else it may end before it tells
		}
		stop()
		patch(name, client.StrategicPatch(map[string]any{"status": map[string]any{
			"nodeInfo":   map[string]any{"bootID": "another"},
			"conditions": []any{map[string]any{"type": "Ready", "status": "Unknown"}, map[string]any{"type": "MemoryPressure", "status": "Unknown"}},
		}}).On("status"))
		stop = start(t, mine, o)
		await(t, nodes, name, "ready again", ready)
		if tc.want != nil {
			told(name, "Rebooted")
		}
		for _, cordoned := range []bool{true, false} {
			patch(name, client.MergePatch(map[string]any{"spec": map[string]any{"unschedulable": cordoned}}))
			if tc.want != nil {
				told(name, map[bool]string{true: "NodeNotSchedulable", false: "NodeSchedulable"}[cordoned])
			}
		}
		stop()
		recorder.Close() // writes the queued events
		list, err := events.List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.kind=Node,involvedObject.name=" + name})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, e := range list.Items {
			if got[e.Reason] = true; strings.HasPrefix(e.Reason, "Node") && e.Reason != "NodeAllocatableEnforced" && e.Message != "Node "+name+" status is now: "+e.Reason {
				t.Errorf("%s: %s", e.Reason, e.Message)
			}
			if (e.Type == corev1.EventTypeWarning) != (e.Reason == "Rebooted") || e.Source.Component != "kubelet" || e.Source.Host != name {
				t.Errorf("%s: %s of %v", e.Reason, e.Type, e.Source)
			}
		}
		if reasons := slices.Sorted(maps.Keys(got)); !slices.Equal(reasons, tc.want) {
			t.Errorf("%s: %q, want %q", tc.name, reasons, tc.want)
		}
	}
}
