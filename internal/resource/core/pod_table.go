package core

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/condition"
	"fairlead.dev/internal/resource"
)

var podTable = resource.TableOf(podRow,
	resource.NameColumn,
	resource.Text("Ready", "Containers that are ready, of those that should be."),
	resource.Text("Status", "What the pod is doing, summed up over its containers."),
	resource.Text("Restarts", "How often containers were restarted, and when last."),
	resource.AgeColumn,
	resource.WideOnly(resource.Text("IP", "The pod's first address.")),
	resource.WideOnly(resource.Text("Node", "The node the pod is bound to.")),
	resource.WideOnly(resource.Text("Nominated Node", "The node on which room is being made for the pod.")),
	resource.WideOnly(resource.Text("Readiness Gates", "Readiness gates that are open, of all the pod has.")),
)

func podRow(p *corev1.Pod) []any {
	s := summarize(p)
	restarts := strconv.Itoa(s.restarts)
	if s.restarts != 0 && !s.lastRestart.IsZero() {
		restarts = fmt.Sprintf("%d (%s ago)", s.restarts, resource.Since(metav1.NewTime(s.lastRestart)))
	}
	ip := ""
	if len(p.Status.PodIPs) > 0 {
		ip = p.Status.PodIPs[0].IP
	}
	return []any{
		p.Name,
		fmt.Sprintf("%d/%d", s.ready, s.total),
		s.status,
		restarts,
		resource.AgeOf(p),
		cmp.Or(ip, resource.None),
		cmp.Or(p.Spec.NodeName, resource.None),
		cmp.Or(p.Status.NominatedNodeName, resource.None),
		gates(p),
	}
}

func gates(p *corev1.Pod) string {
	if len(p.Spec.ReadinessGates) == 0 {
		return resource.None
	}
	open := 0
	for _, g := range p.Spec.ReadinessGates {
		if c := condition.OfPod(&p.Status, g.ConditionType); c != nil && c.Status == corev1.ConditionTrue {
			open++
		}
	}
	return fmt.Sprintf("%d/%d", open, len(p.Spec.ReadinessGates))
}

func hasCondition(p *corev1.Pod, t corev1.PodConditionType) bool {
	c := condition.OfPod(&p.Status, t)
	return c != nil && c.Status == corev1.ConditionTrue
}

// restartCount counts restarts and records the last one.
type restartCount struct {
	restarts    int
	lastRestart time.Time
}

func (r *restartCount) add(s *corev1.ContainerStatus) {
	r.restarts += int(s.RestartCount)
	if t := s.LastTerminationState.Terminated; t != nil && t.FinishedAt.After(r.lastRestart) {
		r.lastRestart = t.FinishedAt.Time
	}
}
