package volumes

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// Zone keeps pods in the zones and regions of their volumes' labels.
type Zone struct{}

var zoneKeys = []string{
	corev1.LabelTopologyZone, corev1.LabelTopologyRegion,
	corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion,
}

// stableZoneKey returns the stable name of a deprecated label key.
func stableZoneKey(zoneKey string) string {
	switch zoneKey {
	case corev1.LabelFailureDomainBetaZone:
		return corev1.LabelTopologyZone
	case corev1.LabelFailureDomainBetaRegion:
		return corev1.LabelTopologyRegion
	}
	return zoneKey
}

func (Zone) Name() string { return "VolumeZone" }

func (Zone) PreFilter(c *cache.Cluster, p *cache.PodInfo) (framework.FilterFunc, framework.Status) {
	type demand struct {
		key    string
		values []string
	}
	var demands []demand
	for _, name := range mountedClaims(p.Pod) {
		pv, v := volumeWithZone(c, p, name)
		if !v.IsSuccess() {
			return nil, v
		}
		if pv == nil {
			continue // Binding chooses it
		}
		for _, key := range zoneKeys {
			if v, ok := pv.Labels[key]; ok {
				demands = append(demands, demand{key, strings.Split(v, "__")})
			}
		}
	}
	if demands == nil {
		return nil, success
	}
	elsewhere := framework.Unresolvable("node(s) had no available volume zone")
	return func(n *cache.NodeInfo) framework.Status {
		if !slices.ContainsFunc(zoneKeys, func(key string) bool { _, ok := n.Node.Labels[key]; return ok }) {
			return success // the cluster has no zones
		}
		for _, d := range demands {
			v, ok := n.Node.Labels[d.key]
			if !ok {
				v, ok = n.Node.Labels[stableZoneKey(d.key)]
			}
			if !ok || !slices.Contains(d.values, v) {
				return elsewhere
			}
		}
		return success
	}, success
}

// mountedClaims returns the claims that a pod names.
func mountedClaims(pod *corev1.Pod) (names []string) {
	for i := range pod.Spec.Volumes {
		if v := pod.Spec.Volumes[i].PersistentVolumeClaim; v != nil {
			names = append(names, v.ClaimName)
		}
	}
	return names
}

// volumeWithZone returns the volume of a claim that p mounts; nil if it is still to be chosen.
func volumeWithZone(c *cache.Cluster, p *cache.PodInfo, name string) (*corev1.PersistentVolume, framework.Status) {
	claim, v := claimOf(c, p, name)
	if !v.IsSuccess() {
		return nil, v
	}
	if claim.Spec.VolumeName != "" {
		pv, ok := c.Objects.Volume(claim.Spec.VolumeName)
		if !ok {
			return nil, framework.Unresolvable(fmt.Sprintf("persistentvolume %q not found", claim.Spec.VolumeName))
		}
		return pv, success
	}
	class, ok := c.Objects.Class(classOf(claim))
	switch {
	case classOf(claim) == "":
		return nil, framework.Unresolvable("PersistentVolumeClaim had no pv name and storageClass name")
	case !ok:
		return nil, framework.Unresolvable(fmt.Sprintf("storageclass.storage.k8s.io %q not found", classOf(claim)))
	case !isDelayedBinding(class):
		return nil, framework.Unresolvable("PersistentVolume had no name")
	}
	return nil, success
}

func (Zone) EventsToRegister() framework.EventKind {
	return framework.VolumesChanged | framework.NodeAdded | framework.NodeChanged
}

func (Zone) QueueingHint(*cache.PodInfo, *framework.ClusterEvent) bool { return true }
