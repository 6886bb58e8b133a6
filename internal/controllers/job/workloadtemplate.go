package job

import (
	"fmt"
	"hash/fnv"

	batchv1 "k8s.io/api/batch/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation"
)

// templateOf returns the template of a Job's group: what spec.scheduling says, and basic without a policy there. The least count
// of a gang is the Job's parallelism unless it is given.
func templateOf(j *batchv1.Job) schedulingv1beta1.PodGroupTemplate {
	t := schedulingv1beta1.PodGroupTemplate{
		Name:              j.Name + "-pgt-0",
		PriorityClassName: j.Spec.Template.Spec.PriorityClassName,
		SchedulingPolicy:  schedulingv1beta1.PodGroupSchedulingPolicy{Basic: &schedulingv1beta1.BasicSchedulingPolicy{}},
	}
	s := j.Spec.Scheduling
	if s == nil {
		return t
	}
	if policy := s.SchedulingPolicy; policy != nil && policy.Gang != nil {
		gang := &schedulingv1beta1.GangSchedulingPolicy{MinCount: max(1, parallelism(j))}
		if n := policy.Gang.MinCount; n != nil {
			gang.MinCount = *n
		}
		t.SchedulingPolicy = schedulingv1beta1.PodGroupSchedulingPolicy{Gang: gang}
	}
	if c := s.SchedulingConstraints; c != nil && len(c.Topology) > 0 {
		t.SchedulingConstraints = &schedulingv1beta1.PodGroupSchedulingConstraints{}
		for _, of := range c.Topology {
			t.SchedulingConstraints.Topology = append(t.SchedulingConstraints.Topology, schedulingv1beta1.TopologyConstraint{Key: of.Key})
		}
	}
	switch mode := s.DisruptionMode; {
	case mode == nil:
	case mode.Single != nil:
		t.DisruptionMode = &schedulingv1beta1.DisruptionMode{Single: &schedulingv1beta1.SingleDisruptionMode{}}
	case mode.All != nil:
		t.DisruptionMode = &schedulingv1beta1.DisruptionMode{All: &schedulingv1beta1.AllDisruptionMode{}}
	}
	for _, c := range s.ResourceClaims {
		t.ResourceClaims = append(t.ResourceClaims, schedulingv1beta1.PodGroupResourceClaim{
			Name: c.Name, ResourceClaimName: c.ResourceClaimName, ResourceClaimTemplateName: c.ResourceClaimTemplateName,
		})
	}
	return t
}

// workloadName names a Job's Workload: the Job's name and a hash of its UID. Controllers of Kubernetes that take over a cluster
// hash the same text.
func workloadName(j *batchv1.Job) string {
	h := hash("(types.UID)", string(j.UID))
	return j.Name[:min(len(j.Name), validation.DNS1123SubdomainMaxLength-len("-")-len(h))] + "-" + h
}

// groupName names the PodGroup of a template in a Workload. If both names together are too long, each has half of the room, or
// what the other one leaves.
func groupName(workload, template string) string {
	h := hash(workload, template)
	room := validation.DNS1123SubdomainMaxLength - len("--") - len(h)
	half := room / 2
	switch {
	case len(workload)+len(template) <= room:
	case len(workload) <= half:
		template = template[:room-len(workload)]
	case len(template) <= half:
		workload = workload[:room-len(template)]
	default:
		workload, template = workload[:room-half], template[:half]
	}
	return workload + "-" + template + "-" + h
}

// hash encodes a 32-bit FNV-1a hash of the parts in letters and digits that form no words.
func hash(parts ...string) string {
	h := fnv.New32a()
	for _, part := range parts {
		h.Write([]byte(part))
	}
	return rand.SafeEncodeString(fmt.Sprint(h.Sum32()))
}
