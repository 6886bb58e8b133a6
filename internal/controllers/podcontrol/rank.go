package podcontrol

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Surplus picks n of the pods to delete, the most expendable first. related are all active pods of the same
// application, including the candidates: of two otherwise equal pods, the one whose node runs more of them is
// deleted first, which keeps the remaining ones spread. The input is not reordered.
//
// The order, by the first difference: not assigned to a node; pending before unknown before running; not ready;
// lower deletion cost; more crowded node; ready for a shorter time; more restarts; younger. Ages are compared by
// their binary magnitude and, within one, by UID, so that the victims among pods created together are not all on
// the same side of a rollout.
func Surplus(pods, related []*corev1.Pod, n int, now time.Time) []*corev1.Pod {
	if n <= 0 {
		return nil
	}
	if n >= len(pods) {
		return slices.Clone(pods)
	}
	crowd := make(map[string]int)
	for _, p := range related {
		if p.Spec.NodeName != "" && IsActive(p) {
			crowd[p.Spec.NodeName]++
		}
	}
	ranked := make([]victim, len(pods))
	for i, p := range pods {
		ranked[i] = newVictim(p, crowd[p.Spec.NodeName])
	}
	slices.SortStableFunc(ranked, func(a, b victim) int { return a.compare(b, now) })
	out := make([]*corev1.Pod, n)
	for i := range out {
		out[i] = ranked[i].pod
	}
	return out
}

// victim is a pod with the properties that determine its rank.
type victim struct {
	pod      *corev1.Pod
	ready    bool
	since    time.Time
	cost     int32
	crowd    int
	restarts [2]int32 // of ordinary containers, of sidecars
}

func newVictim(p *corev1.Pod, crowd int) victim {
	return victim{pod: p, ready: IsReady(p), since: ReadySince(p), cost: deletionCost(p), crowd: crowd, restarts: restarts(p)}
}

var phaseOrder = map[corev1.PodPhase]int{corev1.PodPending: 0, corev1.PodUnknown: 1, corev1.PodRunning: 2}

func (a victim) compare(b victim, now time.Time) int {
	if c := boolFirst(a.pod.Spec.NodeName == "", b.pod.Spec.NodeName == ""); c != 0 {
		return c
	}
	if c := cmp.Compare(phaseOrder[a.pod.Status.Phase], phaseOrder[b.pod.Status.Phase]); c != 0 {
		return c
	}
	if c := boolFirst(!a.ready, !b.ready); c != 0 {
		return c
	}
	if c := cmp.Compare(a.cost, b.cost); c != 0 {
		return c
	}
	if c := cmp.Compare(b.crowd, a.crowd); c != 0 {
		return c
	}
	if a.ready && !a.since.Equal(b.since) {
		return younger(a.since, b.since, a.pod, b.pod, now)
	}
	if c := cmp.Compare(b.restarts[0], a.restarts[0]); c != 0 {
		return c
	}
	if c := cmp.Compare(b.restarts[1], a.restarts[1]); c != 0 {
		return c
	}
	if x, y := a.pod.CreationTimestamp.Time, b.pod.CreationTimestamp.Time; !x.Equal(y) {
		return younger(x, y, a.pod, b.pod, now)
	}
	return 0
}

func boolFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// younger sorts the later of two times first, a missing one before all.
func younger(x, y time.Time, a, b *corev1.Pod, now time.Time) int {
	switch {
	case x.IsZero() && y.IsZero():
		return 0
	case x.IsZero():
		return -1
	case y.IsZero():
		return 1
	case now.IsZero():
		return y.Compare(x)
	}
	if c := cmp.Compare(magnitude(now.Sub(x)), magnitude(now.Sub(y))); c != 0 {
		return c
	}
	return strings.Compare(string(a.UID), string(b.UID))
}

func magnitude(age time.Duration) int64 {
	if age <= 0 {
		return -1
	}
	return int64(math.Log2(float64(age)))
}

func deletionCost(p *corev1.Pod) int32 {
	v, ok := p.Annotations[corev1.PodDeletionCost]
	if !ok {
		return 0
	}
	// A leading plus or superfluous zeros are invalid, as in validation.
	n, err := strconv.ParseInt(v, 10, 32)
	if err != nil || strconv.FormatInt(n, 10) != v {
		return 0
	}
	return int32(n)
}

func restarts(p *corev1.Pod) (r [2]int32) {
	for _, c := range p.Status.ContainerStatuses {
		r[0] = max(r[0], c.RestartCount)
	}
	for i := range p.Spec.InitContainers {
		c := &p.Spec.InitContainers[i]
		if c.RestartPolicy == nil || *c.RestartPolicy != corev1.ContainerRestartPolicyAlways {
			continue
		}
		for _, s := range p.Status.InitContainerStatuses {
			if s.Name == c.Name {
				r[1] = max(r[1], s.RestartCount)
			}
		}
	}
	return r
}
