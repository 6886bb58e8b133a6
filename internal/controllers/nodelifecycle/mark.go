package nodelifecycle

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
)

// mark updates the taints of this controller, and derived labels. The patch is conditional on the resourceVersion,
// because taints are written as a whole.
func (c *lifecycle) mark(ctx context.Context, n *corev1.Node) error {
	key, driven := executeTaint(n), hasExecute(n.Spec.Taints)
	switch {
	case key != "" && c.zones.down():
		c.zones.leave(n.Name)
		key = ""
	case key == "" || driven:
		c.zones.leave(n.Name)
	case !c.zones.turn(n.Name):
		key = ""
	}
	taints := withTaints(n, key, metav1.Now())
	change := map[string]any{}
	meta := map[string]any{"uid": n.UID, "resourceVersion": n.ResourceVersion}
	if !sameTaints(n.Spec.Taints, taints) {
		change["spec"] = map[string]any{"taints": taints}
	}
	if labels := betaLabels(n); labels != nil {
		meta["labels"] = labels
	} else if len(change) == 0 {
		return nil
	}
	change["metadata"] = meta
	if _, err := c.nodes.API.Patch(ctx, n.Name, client.MergePatch(change)); err != nil {
		return err
	}
	if key != "" && !driven {
		c.zones.tainted(n.Name)
	}
	return nil
}

func sameTaints(a, b []corev1.Taint) bool {
	return slices.EqualFunc(a, b, func(x, y corev1.Taint) bool { return x.Key == y.Key && x.Effect == y.Effect })
}

// betaLabels returns the beta labels that a node lacks, or that differ from the stable ones, or nil.
func betaLabels(n *corev1.Node) map[string]string {
	var missing map[string]string
	for now, old := range map[string]string{
		corev1.LabelOSStable:   "beta.kubernetes.io/os",
		corev1.LabelArchStable: "beta.kubernetes.io/arch",
	} {
		if v, ok := n.Labels[now]; ok && n.Labels[old] != v {
			if missing == nil {
				missing = map[string]string{}
			}
			missing[old] = v
		}
	}
	return missing
}
