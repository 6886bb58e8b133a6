package scheduler

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// volumes keeps pods to nodes that reach their volumes. Claims must be bound before the
// pod is placed: this scheduler takes no part in late binding (WaitForFirstConsumer).
type volumes struct{}

func (volumes) Name() string { return "VolumeBinding" }

// claimNames are the claims a pod mounts, those of ephemeral volumes included.
func claimNames(pod *corev1.Pod) (names []string) {
	for i := range pod.Spec.Volumes {
		switch v := &pod.Spec.Volumes[i]; {
		case v.PersistentVolumeClaim != nil:
			names = append(names, v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil:
			names = append(names, pod.Name+"-"+v.Name)
		}
	}
	return names
}

type reachable struct {
	volume *nodeRule
	zones  map[string][]string // zone labels of the volume, and their values
}

func (volumes) Prepare(c *Cluster, p *PodInfo) (Check, Verdict) {
	if len(p.claims) == 0 {
		return nil, fits
	}
	var need []reachable
	for _, name := range p.claims {
		pv, v := c.boundVolume(p, name)
		if !v.Fits() {
			return nil, v
		}
		r, err := newReachable(pv)
		if err != nil {
			return nil, never(err.Error())
		}
		need = append(need, r)
	}
	conflict := never("node(s) didn't match PersistentVolume's node affinity")
	zone := never("node(s) had no available volume zone")
	return func(n *NodeInfo) Verdict {
		for i := range need {
			if !need[i].volume.matches(n.Node) {
				return conflict
			}
			for key, values := range need[i].zones {
				if v, ok := n.Node.Labels[key]; ok && !slices.Contains(values, v) {
					return zone
				}
			}
		}
		return fits
	}, fits
}

func (c *Cluster) boundVolume(p *PodInfo, name string) (*corev1.PersistentVolume, Verdict) {
	pvc, ok := c.objects.Claim(p.Pod.Namespace, name)
	switch {
	case !ok:
		return nil, never(fmt.Sprintf("persistentvolumeclaim %q not found", name))
	case pvc.DeletionTimestamp != nil:
		return nil, never(fmt.Sprintf("persistentvolumeclaim %q is being deleted", name))
	case pvc.Status.Phase == corev1.ClaimLost:
		return nil, never(fmt.Sprintf("persistentvolumeclaim %q bound to non-existent persistentvolume %q", name, pvc.Spec.VolumeName))
	case pvc.Spec.VolumeName == "":
		if class := pvc.Spec.StorageClassName; class != nil && c.objects.LateBinding(*class) {
			return nil, never(fmt.Sprintf("persistentvolumeclaim %q waits for its first consumer (volumeBindingMode WaitForFirstConsumer), which this scheduler does not bind", name))
		}
		return nil, never("pod has unbound immediate PersistentVolumeClaims")
	}
	key := types.NamespacedName{Namespace: p.Pod.Namespace, Name: name}
	if slices.Contains(pvc.Spec.AccessModes, corev1.ReadWriteOncePod) && c.claims[key] > 0 {
		return nil, no("node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod")
	}
	pv, ok := c.objects.Volume(pvc.Spec.VolumeName)
	if !ok {
		return nil, never("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)")
	}
	return pv, fits
}

func newReachable(pv *corev1.PersistentVolume) (r reachable, err error) {
	if a := pv.Spec.NodeAffinity; a != nil && a.Required != nil {
		r.volume, err = newNodeRule(&corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: a.Required,
		}}})
	}
	for _, key := range []string{
		corev1.LabelTopologyZone, corev1.LabelTopologyRegion,
		corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion,
	} {
		if v, ok := pv.Labels[key]; ok {
			if r.zones == nil {
				r.zones = map[string][]string{}
			}
			r.zones[key] = strings.Split(v, "__")
		}
	}
	return r, err
}

func (volumes) Events() EventKind { return VolumesChanged | NodeAdded | NodeChanged | PodRemoved }
func (volumes) Helps(p *PodInfo, e *Event) bool {
	return e.Kind != PodRemoved || e.Pod.Pod.Namespace == p.Pod.Namespace &&
		slices.ContainsFunc(e.Pod.claims, func(name string) bool { return slices.Contains(p.claims, name) })
}
