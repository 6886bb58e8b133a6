package schedulerplugins

import (
	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"fairlead.dev/scheduler"
)

// podInfo is a pod as plugins see it.
type podInfo struct{ *scheduler.PodInfo }

var _ fwk.PodInfo = podInfo{}

// GetPod returns the pod. One that is assumed to be on a node has its name, although the API server does not know it yet.
func (p podInfo) GetPod() *corev1.Pod {
	if p.NodeInfo == nil || p.Pod.Spec.NodeName != "" {
		return p.Pod
	}
	assumed := *p.Pod
	assumed.Spec.NodeName = p.NodeInfo.Name
	return &assumed
}

func (p podInfo) affinity() (of corev1.PodAffinity, against corev1.PodAntiAffinity) {
	if a := p.Pod.Spec.Affinity; a != nil {
		if a.PodAffinity != nil {
			of = *a.PodAffinity
		}
		if a.PodAntiAffinity != nil {
			against = *a.PodAntiAffinity
		}
	}
	return of, against
}

// terms returns the terms of a pod, nil if one is malformed: such a pod fits no node.
func (p podInfo) terms(all []corev1.PodAffinityTerm) []fwk.AffinityTerm {
	made, _ := fwk.GetAffinityTerms(p.Pod, all)
	return made
}

func (p podInfo) weighted(all []corev1.WeightedPodAffinityTerm) []fwk.WeightedAffinityTerm {
	made, _ := fwk.GetWeightedAffinityTerms(p.Pod, all)
	return made
}

func (p podInfo) GetRequiredAffinityTerms() []fwk.AffinityTerm {
	of, _ := p.affinity()
	return p.terms(of.RequiredDuringSchedulingIgnoredDuringExecution)
}

func (p podInfo) GetRequiredAntiAffinityTerms() []fwk.AffinityTerm {
	_, against := p.affinity()
	return p.terms(against.RequiredDuringSchedulingIgnoredDuringExecution)
}

func (p podInfo) GetPreferredAffinityTerms() []fwk.WeightedAffinityTerm {
	of, _ := p.affinity()
	return p.weighted(of.PreferredDuringSchedulingIgnoredDuringExecution)
}

func (p podInfo) GetPreferredAntiAffinityTerms() []fwk.WeightedAffinityTerm {
	_, against := p.affinity()
	return p.weighted(against.PreferredDuringSchedulingIgnoredDuringExecution)
}

func (p podInfo) CalculateResource() fwk.PodResource {
	return fwk.PodResource{
		Resource: resourcesOf(&p.Requests, 0), Non0CPU: p.NonZeroRequests.MilliCPU, Non0Mem: p.NonZeroRequests.Memory,
	}
}

// hasAffinity reports whether a pod has affinity or anti-affinity terms.
func hasAffinity(p *scheduler.PodInfo) bool {
	return len(p.RequiredAffinityTerms)+len(p.PreferredAffinityTerms)+len(p.RequiredAntiAffinityTerms) > 0
}

func hasRequiredAntiAffinity(p *scheduler.PodInfo) bool { return len(p.RequiredAntiAffinityTerms) > 0 }

func hasWideAntiAffinity(p *scheduler.PodInfo) bool {
	for i := range p.RequiredAntiAffinityTerms {
		if p.RequiredAntiAffinityTerms[i].TopologyKey != corev1.LabelHostname {
			return true
		}
	}
	return false
}
