package nodelifecycle_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/nodelifecycle"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/internal/nodekind"
)

// TestVersionSkew checks that nodes whose kubelets the control plane does not support get an event, when they register or
// report another version, and that all others get none.
func TestVersionSkew(t *testing.T) {
	h := begin(t, nodelifecycle.Options{Version: "v1.37.2"})
	register := func(name, version string, annotations map[string]string) {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations}}
		n.Status.NodeInfo.KubeletVersion = version
		_, err := h.nodes.Create(t.Context(), n)
		h.must(err)
	}
	register("older", "v1.34.7", nil)
	register("simulated", "v1.20.0", map[string]string{nodekind.Simulated: "true"})
	register("upgraded", "v1.37.2", nil)
	register("old", "v1.33.1", nil)
	register("newer", "v1.38.0", nil)

	skewed := func(want int) map[string]string {
		messages := map[string]string{}
		waittest.For(t, h.events.Namespace("default"), "the events of skewed kubelets", "", func(all map[string]*corev1.Event) bool {
			clear(messages)
			for _, e := range all {
				if e.Reason == "VersionSkew" && e.Type == corev1.EventTypeWarning {
					messages[e.InvolvedObject.Name] = e.Message
				}
			}
			return len(messages) >= want
		})
		return messages
	}
	got := skewed(2)
	if len(got) != 2 || !strings.Contains(got["old"], "v1.33.1 is too old") || !strings.Contains(got["newer"], "v1.38.0 is newer than the server's, v1.37.2") {
		t.Errorf("events: %v", got)
	}
	_, err := h.nodes.Patch(t.Context(), "upgraded", client.MergePatch(map[string]any{
		"status": map[string]any{"nodeInfo": map[string]any{"kubeletVersion": "v1.38.1"}},
	}).On("status"))
	h.must(err)
	if got = skewed(3); len(got) != 3 || !strings.Contains(got["upgraded"], "v1.38.1 is newer") {
		t.Errorf("events after the upgrade: %v", got)
	}
}
