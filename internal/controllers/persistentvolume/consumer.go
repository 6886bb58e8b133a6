package persistentvolume

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/controllers/podcontrol"
)

// tellConsumers records in an event that a claim with late binding waits for its first consumer, or for the
// existing pods to be scheduled.
func (b *binder) tellConsumers(c *corev1.PersistentVolumeClaim) {
	var names []string
	for _, p := range b.pods.Store().List(c.Namespace) {
		if p.Spec.NodeName == "" && p.DeletionTimestamp == nil && !podcontrol.IsFinished(p) && consumes(p, c.Name) {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	switch len(names) {
	case 0:
		b.rec.Event(c, corev1.EventTypeNormal, "WaitForFirstConsumer", "waiting for first consumer to be created before binding")
	case 1:
		b.rec.Event(c, corev1.EventTypeNormal, "WaitForPodScheduled", "waiting for pod %s to be scheduled", names[0])
	default:
		b.rec.Event(c, corev1.EventTypeNormal, "WaitForPodScheduled", "waiting for pods %s to be scheduled", strings.Join(names, ","))
	}
}

// consumes reports whether a pod has a claim of that name among its volumes.
func consumes(p *corev1.Pod, claim string) bool {
	return slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim ||
			v.Ephemeral != nil && p.Name+"-"+v.Name == claim
	})
}
