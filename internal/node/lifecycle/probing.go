package lifecycle

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/node/admission"
	"fairlead.dev/internal/node/stage"
)

// Probing is a kubelet's memory of the probes of a pod. It is not changed once a Step has it; nil is the memory of a
// kubelet that has just started, which does not tell of the attempts before.
type Probing struct {
	containers []probeRuns // a map would take a kilobyte for one
}

// probeRuns is the memory of the probes of a container.
type probeRuns struct {
	name string
	id   string // of the run
	run  [probeKinds]attempts
	past [probeKinds]attempts // of the runs before
}

// of returns the memory of a container's probes.
func (p *Probing) of(container string) probeRuns {
	if p != nil {
		for i := range p.containers {
			if p.containers[i].name == container {
				return p.containers[i]
			}
		}
	}
	return probeRuns{name: container}
}

// ProbeCount is how often a probe of a container has passed and failed, over all runs of the container.
type ProbeCount struct {
	Container, Kind string // Startup, Readiness or Liveness
	Passed, Failed  int
}

// Probes returns the results of the probes of a pod until a time, of all that its containers have run with. p is the
// memory of the latest step.
func (b *BuiltIn) Probes(pod *corev1.Pod, p *Probing, now time.Time) (all []ProbeCount) {
	if IsOver(&pod.Status) {
		return nil
	}
	sc := newScenario(pod, b.Images, b.StartAfter, b.RunFor)
	eachProbed(pod, &pod.Status, func(spec *corev1.Container, c *corev1.ContainerStatus) {
		seen, _ := sc.remember(pod, spec, c, p, now)
		for kind, has := range probeSpecs(spec) {
			if sum := seen.past[kind].plus(seen.run[kind]); has != nil && sum != (attempts{}) {
				all = append(all, ProbeCount{c.Name, probeNames[kind], sum.passed, sum.failed})
			}
		}
	})
	return all
}

// eachProbed calls f with each container that has probes.
func eachProbed(pod *corev1.Pod, s *corev1.PodStatus, f func(*corev1.Container, *corev1.ContainerStatus)) {
	of := func(specs []corev1.Container, statuses []corev1.ContainerStatus, initial bool) {
		for i := range min(len(specs), len(statuses)) {
			if c := &specs[i]; probeSpecs(c) != [probeKinds]*corev1.Probe{} && (!initial || admission.IsSidecar(c)) {
				f(c, &statuses[i])
			}
		}
	}
	of(pod.Spec.InitContainers, s.InitContainerStatuses, true)
	of(pod.Spec.Containers, s.ContainerStatuses, false)
}

// remember returns the memory of a container's probes at a time, and the courses of its present or last run.
func (s *scenario) remember(pod *corev1.Pod, spec *corev1.Container, c *corev1.ContainerStatus, old *Probing, now time.Time) (probeRuns, [probeKinds]course) {
	seen := old.of(c.Name)
	id, began, until := lastRun(c, now)
	if id == "" {
		return seen, [probeKinds]course{}
	}
	if seen.id != id {
		for kind := range seen.past {
			seen.past[kind], seen.run[kind] = seen.past[kind].plus(seen.run[kind]), attempts{}
		}
		seen.id = id
	}
	courses := s.probes(pod, spec).courses()
	for kind := range courses {
		end := until
		if t := pod.DeletionTimestamp; t != nil && kind != readiness { // a kubelet goes on with readiness alone
			end = Earlier(end, t.Add(-time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, 0))*time.Second))
		}
		seen.run[kind] = courses[kind].count(end.Sub(began)).atLeast(seen.run[kind])
	}
	return seen, courses
}

// lastRun returns the present run of a container, or its last one, and when that ended: now if it goes on. The ID is
// empty if the container has not run.
func lastRun(c *corev1.ContainerStatus, now time.Time) (id string, began, until time.Time) {
	if c.State.Running != nil {
		return c.ContainerID, c.State.Running.StartedAt.Time, now
	}
	end := c.State.Terminated
	if end == nil {
		end = c.LastTerminationState.Terminated
	}
	if end == nil {
		return "", began, until
	}
	return end.ContainerID, end.StartedAt.Time, end.FinishedAt.Time
}

// follow returns the memory of the probes of a pod after a step to a status; nil for a pod without probes. With tells it also
// returns the events of the attempts since the step before, at most one for each probe, and when the next is due.
func (s *scenario) follow(pod *corev1.Pod, status *corev1.PodStatus, old *Probing, tells bool, now time.Time) (p *Probing, told []stage.Action, next time.Time) {
	tells = tells && pod.DeletionTimestamp == nil && s.ending == nil
	forgotten := old == nil && IsStarted(&pod.Status) // the attempts before a restart of the kubelet
	eachProbed(pod, status, func(spec *corev1.Container, c *corev1.ContainerStatus) {
		if p == nil {
			p = &Probing{}
		}
		seen, courses := s.remember(pod, spec, c, old, now)
		p.containers = append(p.containers, seen)
		if !tells {
			return
		}
		before := old.of(c.Name)
		if before.id != seen.id {
			before.run = [probeKinds]attempts{}
		}
		for kind := range courses {
			if !forgotten {
				told = append(told, tellAttempts(pod, status, spec, kind, &courses[kind], before.run[kind], seen.run[kind])...)
			}
			if c.State.Running != nil {
				began := c.State.Running.StartedAt.Time
				if at, ok := courses[kind].nextTold(now.Sub(began)); ok {
					next = Earlier(next, began.Add(at))
				}
			}
		}
	})
	return p, told, next
}

// tellAttempts returns the events of the attempts of a probe of one run, between two counts.
func tellAttempts(pod *corev1.Pod, status *corev1.PodStatus, spec *corev1.Container, kind int, c *course, before, now attempts) (told []stage.Action) {
	add := func(eventType, reason, format string, args ...any) {
		told = append(told, stage.Action{Event: &stage.Event{Type: eventType, Reason: reason, Message: fmt.Sprintf(format, args...)}})
	}
	name, p := probeNames[kind], probeSpecs(spec)[kind]
	if c.probe != nil && c.warns && now.passed > before.passed {
		add(corev1.EventTypeWarning, "ProbeWarning", "%s probe warning: %s", name, redirected)
	}
	if c.probe == nil || now.failed <= before.failed {
		return told
	}
	add(corev1.EventTypeWarning, "Unhealthy", "%s probe failed: %s", name, failure(p, spec, status.PodIP))
	if c.kills && now.failed == c.count(c.last).failed {
		subject, end := "Container", ""
		if admission.IsSidecar(spec) {
			subject = "Init container"
		} else if policy(pod, spec) != corev1.RestartPolicyNever {
			end = ", will be restarted"
		}
		add(corev1.EventTypeNormal, "Killing", "%s %s failed %s probe%s", subject, spec.Name, strings.ToLower(name), end)
	}
	return told
}
