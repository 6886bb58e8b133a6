package admission

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// criticalPriority is the lowest priority of pods for which a node preempts others.
const criticalPriority = 2_000_000_000

// IsCritical reports whether a node ends others for a pod, and never ends the pod for a lack of resources.
func IsCritical(pod *corev1.Pod) bool {
	_, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return mirror || pod.Spec.Priority != nil && *pod.Spec.Priority >= criticalPriority
}

// isPreemptable reports whether a pod may be preempted for another.
func isPreemptable(pod, to *corev1.Pod) bool {
	p, q := pod.Spec.Priority, to.Spec.Priority
	return IsCritical(to) && !IsCritical(pod) || p != nil && q != nil && *q > *p
}

// preempt chooses the pods that end for a critical one, which waits. No further victims are chosen until all
// earlier ones have ended.
func (r *Request) preempt(short []insufficientResource) Result {
	for p := range r.Residents {
		if p.Preempted {
			return Result{Preempts: true}
		}
	}
	victims, lacking := r.victims(short)
	if lacking != nil {
		return Result{Reason: "UnexpectedAdmissionError", Message: "Unexpected error while attempting to recover from admission failure: " +
			"preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: " + lacking.String()}
	}
	return Result{Preempts: true, Victims: victims}
}

// victims returns the pods to end for a critical one, or the resources that are missing even without all of them.
// As in a kubelet: first the fewest Guaranteed pods that are needed if all others end, then the fewest Burstable
// ones, then the fewest BestEffort ones. For example, a pod lacks 3 CPUs and the node has BestEffort pods of 0
// CPUs, Burstable pods of 1 and 2 CPUs and a Guaranteed pod of 4 CPUs. Without the Guaranteed pod, ending all
// others frees 3 CPUs: no Guaranteed pod has to end, both Burstable ones do, and no BestEffort one.
func (r *Request) victims(short []insufficientResource) (all []*corev1.Pod, lacking deficit) {
	classes := map[corev1.PodQOSClass][]Resident{}
	for p := range r.Residents {
		if isPreemptable(p.Pod, r.Pod) {
			class := cmp.Or(p.Pod.Status.QOSClass, QOSClass(p.Pod))
			classes[class] = append(classes[class], p)
		}
	}
	best, burst, sure := classes[corev1.PodQOSBestEffort], classes[corev1.PodQOSBurstable], classes[corev1.PodQOSGuaranteed]
	var need deficit
	for _, s := range short {
		need = append(need, missing{s.name, s.requested - (s.capacity - s.used)})
	}
	if lacking = need.minus(best, burst, sure); lacking != nil {
		return nil, lacking
	}
	sure = fewestVictims(sure, need.minus(best, burst))
	burst = fewestVictims(burst, need.minus(best, sure))
	best = fewestVictims(best, need.minus(burst, sure))
	for _, p := range slices.Concat(best, burst, sure) {
		all = append(all, p.Pod)
	}
	return all, nil
}

// deficit lists the missing resources and their amounts.
type deficit []missing

type missing struct {
	of corev1.ResourceName
	n  int64
}

func (p *Resident) frees(of corev1.ResourceName) int64 {
	if of == corev1.ResourcePods {
		return 1
	}
	return p.Allocation.Of(p.Pod).Of(of)
}

// minus returns the deficit that remains when pods have ended.
func (g deficit) minus(ended ...[]Resident) (rest deficit) {
	for _, part := range g {
		for _, list := range ended {
			for i := range list {
				part.n -= list[i].frees(part.of)
			}
		}
		if part.n > 0 {
			rest = append(rest, part)
		}
	}
	return rest
}

// distanceWithout returns how far a deficit is from zero when a pod has ended: the sum of the squares of the
// relative remaining amounts, so that each resource counts alike.
func (g deficit) distanceWithout(p *Resident) (far float64) {
	for _, part := range g {
		if left := float64(part.n - p.frees(part.of)); left > 0 {
			far += left * left / float64(part.n) / float64(part.n)
		}
	}
	return far
}

func (g deficit) String() string {
	var b strings.Builder
	for _, part := range g {
		fmt.Fprintf(&b, "(res: %v, q: %d), ", part.of, part.n)
	}
	return "[" + b.String() + "]"
}

// fewestVictims takes pods until the deficit is zero: each time the pod that leaves the smallest distance, and of
// equal ones the one with the smallest requests.
func fewestVictims(pods []Resident, need deficit) (taken []Resident) {
	pods = slices.Clone(pods)
	for need != nil && len(pods) > 0 {
		best := slices.MinFunc(pods, func(p, q Resident) int {
			return cmp.Or(cmp.Compare(need.distanceWithout(&p), need.distanceWithout(&q)),
				cmp.Compare(p.frees(corev1.ResourceMemory), q.frees(corev1.ResourceMemory)),
				cmp.Compare(p.frees(corev1.ResourceCPU), q.frees(corev1.ResourceCPU)),
				cmp.Compare(p.Pod.Name, q.Pod.Name))
		})
		need, taken = need.minus([]Resident{best}), append(taken, best)
		pods = slices.DeleteFunc(pods, func(p Resident) bool { return p == best })
	}
	return taken
}
