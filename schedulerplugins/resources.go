package schedulerplugins

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"fairlead.dev/scheduler"
)

// resources is an amount of each resource as plugins see it.
type resources struct {
	scheduler.Resources
	pods int
}

var _ fwk.Resource = &resources{}

// resourcesOf copies r, with the number of pods that a node allows.
func resourcesOf(r *scheduler.Resources, pods int) *resources {
	of := &resources{*r, pods}
	of.Other = maps.Clone(r.Other)
	return of
}

func (r *resources) GetMilliCPU() int64         { return r.MilliCPU }
func (r *resources) GetMemory() int64           { return r.Memory }
func (r *resources) GetEphemeralStorage() int64 { return r.EphemeralStorage }
func (r *resources) GetAllowedPodNumber() int   { return r.pods }
func (r *resources) GetScalarResources() map[corev1.ResourceName]int64 {
	return r.Other
}

func (r *resources) SetMaxResource(list corev1.ResourceList) {
	for name, q := range list {
		switch name {
		case corev1.ResourceCPU:
			r.MilliCPU = max(r.MilliCPU, q.MilliValue())
		case corev1.ResourceMemory:
			r.Memory = max(r.Memory, q.Value())
		case corev1.ResourceEphemeralStorage:
			r.EphemeralStorage = max(r.EphemeralStorage, q.Value())
		case corev1.ResourcePods:
			r.pods = max(r.pods, int(q.Value()))
		default:
			if r.Other == nil {
				r.Other = map[corev1.ResourceName]int64{}
			}
			r.Other[name] = max(r.Other[name], q.Value())
		}
	}
}
