package node

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// preempting is the reason of a pod that has ended to make room, and of the event that says so.
const preempting = "Preempting"

const makesWay = "Preempted in order to admit critical pod"

// criticalPriority is the least priority of pods for which a node makes room.
const criticalPriority = 2_000_000_000

func isCritical(pod *corev1.Pod) bool {
	_, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return mirror || pod.Spec.Priority != nil && *pod.Spec.Priority >= criticalPriority
}

// yields says whether a pod may be ended for another.
func yields(pod, to *corev1.Pod) bool {
	p, q := pod.Spec.Priority, to.Spec.Priority
	return isCritical(to) && !isCritical(pod) || p != nil && q != nil && *q > *p
}

// makeRoom has pods end for a critical one, which waits for that: as long as any has still to end, no
// other is chosen. The lock is held.
func (k *kubelet) makeRoom(critical *corev1.Pod, short []shortage) refusal {
	under := false
	k.eachTaken(critical.UID, func(p *pod) { under = under || !p.evicted.IsZero() })
	if !under {
		victims, lacking := k.victims(critical, short)
		if lacking != nil {
			return refusal{reason: "UnexpectedAdmissionError", message: "Unexpected error while attempting to recover from admission failure: " +
				"preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: " + lacking.String()}
		}
		now := time.Now()
		for _, p := range victims {
			p.evicted = now
			k.work.Add(podKey{k, p.latest.UID})
			if k.options.Events != NoEvents {
				k.recorder.Event(p.latest, corev1.EventTypeWarning, preempting, makesWay)
			}
		}
	}
	k.mu.cramped = append(k.mu.cramped, critical.UID)
	return refusal{waits: true}
}

// freed looks again at the pods that wait for room, since another has ended. The lock is held.
func (k *kubelet) freed() {
	for _, uid := range k.mu.cramped {
		k.work.Add(podKey{k, uid})
	}
	k.mu.cramped = nil
}

// victims are the pods that end for a critical one: as few and as small as may be found at one look, of
// Guaranteed ones first of all, then of Burstable ones. Else it says what all together cannot free.
func (k *kubelet) victims(critical *corev1.Pod, short []shortage) (all []*pod, lacking gap) {
	classes := map[corev1.PodQOSClass][]*pod{}
	k.eachTaken(critical.UID, func(p *pod) {
		if v := p.view(); yields(v, critical) {
			class := cmp.Or(v.Status.QOSClass, qosClass(v))
			classes[class] = append(classes[class], p)
		}
	})
	best, burst, sure := classes[corev1.PodQOSBestEffort], classes[corev1.PodQOSBurstable], classes[corev1.PodQOSGuaranteed]
	var need gap
	for _, s := range short {
		need = append(need, part{s.name, s.requested - (s.capacity - s.used)})
	}
	if lacking = need.without(best, burst, sure); lacking != nil {
		return nil, lacking
	}
	sure = fewest(sure, need.without(best, burst))
	burst = fewest(burst, need.without(best, sure))
	best = fewest(best, need.without(burst, sure))
	return slices.Concat(best, burst, sure), nil
}

// gap is what is missing, part by part.
type gap []part

type part struct {
	of corev1.ResourceName
	n  int64
}

func (p *pod) gives(of corev1.ResourceName) int64 {
	if of == corev1.ResourcePods {
		return 1
	}
	return p.loads()[of]
}

// without is what still is missing when pods have ended.
func (g gap) without(ended ...[]*pod) (rest gap) {
	for _, part := range g {
		for _, list := range ended {
			for _, p := range list {
				part.n -= p.gives(part.of)
			}
		}
		if part.n > 0 {
			rest = append(rest, part)
		}
	}
	return rest
}

// after is how far from enough it is if a pod ends; each part counts alike.
func (g gap) after(p *pod) (far float64) {
	for _, part := range g {
		if left := float64(part.n - p.gives(part.of)); left > 0 {
			far += left * left / float64(part.n) / float64(part.n)
		}
	}
	return far
}

func (g gap) String() string {
	var b strings.Builder
	for _, part := range g {
		fmt.Fprintf(&b, "(res: %v, q: %d), ", part.of, part.n)
	}
	return "[" + b.String() + "]"
}

// fewest takes pods, each time that which brings the end nearest, and of such the one that asks for
// least, until nothing is missing.
func fewest(pods []*pod, need gap) (taken []*pod) {
	pods = slices.Clone(pods)
	for need != nil && len(pods) > 0 {
		best := slices.MinFunc(pods, func(p, q *pod) int {
			return cmp.Or(cmp.Compare(need.after(p), need.after(q)),
				cmp.Compare(p.gives(corev1.ResourceMemory), q.gives(corev1.ResourceMemory)),
				cmp.Compare(p.gives(corev1.ResourceCPU), q.gives(corev1.ResourceCPU)),
				cmp.Compare(p.latest.Name, q.latest.Name))
		})
		need, taken = need.without([]*pod{best}), append(taken, best)
		pods = slices.DeleteFunc(pods, func(p *pod) bool { return p == best })
	}
	return taken
}

// makeWay ends a pod for another.
func makeWay(pod *corev1.Pod, s *corev1.PodStatus, h host, now time.Time) {
	begin(pod, s, h, now)
	fail(pod, s, preempting, makesWay, now)
	target := corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonTerminationByKubelet,
		Message:            "Pod was preempted by Kubelet to accommodate a critical pod.",
		ObservedGeneration: pod.Generation, LastTransitionTime: metav1.NewTime(now),
	}
	dropCondition(s, corev1.DisruptionTarget)
	s.Conditions = append(s.Conditions, target)
}
