package node

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/node/admission"
	"fairlead.dev/internal/node/dependencies"
	"fairlead.dev/internal/node/eviction"
	"fairlead.dev/internal/node/lifecycle"
)

// Admit implements lifecycle.Node. A pod is admitted once. The Node object is read from the server only if the
// answer depends on it.
func (k *kubelet) Admit(ctx context.Context, pod *corev1.Pod, why admission.Attempt) (admission.Result, error) {
	r := admission.Request{Pod: pod, Attempt: why}
	if !admission.MatchesNodeLabels(pod) {
		r.Node = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: k.name, Labels: map[string]string{
			corev1.LabelHostname: k.name, corev1.LabelOSStable: "linux",
		}}}
		r.Node.Status.Allocatable = k.allocatable()
		if no := k.decide(&r); !no.NeedsNode {
			return no, nil
		}
	}
	var err error
	if r.Node, err = k.nodes.Get(ctx, k.name); err != nil {
		return admission.Result{}, err
	}
	r.Registered = true
	return k.decide(&r), nil
}

// HasImage implements lifecycle.Node.
func (k *kubelet) HasImage(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.mu.images.Has(name)
}

// decide admits a pod beside the other pods of the node, or preempts some of these.
func (k *kubelet) decide(r *admission.Request) admission.Result {
	if no := admission.CheckOS(r.Pod); no.Reason != "" {
		return no
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	p := k.mu.pods[r.Pod.UID]
	if p == nil || p.admitted && r.Attempt == admission.Admit {
		return admission.Result{}
	}
	if no := k.refuses(r); no.Reason != "" {
		return no
	}
	r.Allocation, r.Taints, r.Residents = &p.allocation, k.mu.taints, k.residents(r.Pod.UID)
	if no := k.allocate(r); no.Reason != "" {
		return no
	}
	result := r.Decide()
	switch {
	case result.Preempts:
		k.preempt(result.Victims)
		k.mu.awaitingPreemption = append(k.mu.awaitingPreemption, r.Pod.UID)
	case result.Reason == "":
		p.admitted = true
	}
	if k.mu.settings.numa != nil && !p.admitted {
		k.mu.settings.numa.Release(r.Pod.UID)
	}
	return result
}

// allocate allocates CPUs, memory and devices of the machine to a pod, as far as policies act, or returns why it is refused. A
// manager that has just been made first gets the pods that run. k.mu is held.
func (k *kubelet) allocate(r *admission.Request) admission.Result {
	m, fresh := k.mu.settings.managed(k.capacity)
	if m == nil || r.Attempt == admission.Resize {
		return admission.Result{}
	}
	if fresh {
		var run []*corev1.Pod
		for p := range k.residents(r.Pod.UID) {
			run = append(run, p.Pod)
		}
		slices.SortFunc(run, func(a, b *corev1.Pod) int {
			switch {
			case a.Status.StartTime.Before(b.Status.StartTime):
				return -1
			case b.Status.StartTime.Before(a.Status.StartTime):
				return 1
			}
			return cmp.Compare(a.UID, b.UID)
		})
		for _, p := range run {
			m.Admit(p)
		}
	}
	reason, message := m.Admit(r.Pod)
	return admission.Result{Reason: reason, Message: message}
}

// refuses returns why the node takes no pod like this one at present: it is under pressure, or shuts down. k.mu is held.
func (k *kubelet) refuses(r *admission.Request) admission.Result {
	if r.Attempt == admission.Resize {
		return admission.Result{}
	}
	if k.mu.shutdown.ends() {
		return admission.Result{Reason: shutdownEvent, Message: "Pod was rejected as the node is shutting down."}
	}
	if len(k.mu.under) == 0 {
		return admission.Result{}
	}
	lack := &corev1.Taint{Key: corev1.TaintNodeMemoryPressure, Effect: corev1.TaintEffectNoSchedule}
	why := eviction.Rejection(k.mu.under, admission.QOSClass(r.Pod), admission.IsCritical(r.Pod), admission.Tolerates(r.Pod, lack))
	if why == "" {
		return admission.Result{}
	}
	return admission.Result{Reason: eviction.Reason, Message: why}
}

// residents returns the node's admitted pods that have not ended, except one. k.mu is held; so below.
func (k *kubelet) residents(but types.UID) iter.Seq[admission.Resident] {
	return func(yield func(admission.Resident) bool) {
		for uid, p := range k.mu.pods {
			v := p.view()
			if uid != but && (p.admitted || v.Status.StartTime != nil) && !lifecycle.IsOver(&p.latest.Status) &&
				!yield(admission.Resident{Pod: v, Allocation: &p.allocation, Preempted: p.ending != nil}) {
				return
			}
		}
	}
}

// preempt lets pods end for a critical one.
func (k *kubelet) preempt(victims []*corev1.Pod) {
	now := time.Now()
	for _, v := range victims {
		k.end(k.mu.pods[v.UID], lifecycle.Preemption(v, now), lifecycle.Preempting)
	}
}

// end ends a pod, with an event of that reason unless it is empty.
func (k *kubelet) end(p *pod, e *lifecycle.Ending, event string) {
	p.ending = e
	k.work.Add(podKey{k, p.latest.UID})
	if event != "" && k.options.Events != NoEvents {
		k.recorder.Event(p.latest, corev1.EventTypeWarning, event, "%s", e.Message)
	}
}

// podEnded frees what a pod that has ended had of the machine, and queues the work that waits for its end: the pods that wait for preempted ones, and the supervision.
func (k *kubelet) podEnded(uid types.UID) {
	if m := k.mu.settings.numa; m != nil {
		m.Release(uid)
	}
	for _, uid := range k.mu.awaitingPreemption {
		k.work.Add(podKey{k, uid})
	}
	k.mu.awaitingPreemption = nil
	if k.mu.supervised {
		k.supervision.Add(k)
	}
}

// allocatable returns the allocatable resources of the node, as long as its Node object has not been changed.
func (k *kubelet) allocatable() corev1.ResourceList {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := &k.mu.settings; s.config != nil || s.machine != nil {
		_, list := s.limits(k.capacity)
		return list
	}
	t := k.template
	if t == nil || len(t.Status.Allocatable) == 0 {
		return k.capacity
	}
	list := maps.Clone(k.capacity)
	maps.Copy(list, t.Status.Allocatable)
	return list
}

// Dependencies implements lifecycle.Node. It writes an event for each volume that cannot be mounted, or for the
// ResourceClaim that is not ready, and repeats them only when the messages have changed.
func (k *kubelet) Dependencies(ctx context.Context, pod *corev1.Pod) (errors dependencies.Errors, known bool) {
	p := k.pod(pod.UID)
	if p == nil {
		return errors, false
	}
	if errors, known = k.objects.Check(ctx, &p.objects, pod); !known {
		return errors, false
	}
	if lifecycle.IsStarted(&pod.Status) {
		k.objects.ReleaseVolumes(&p.objects, pod)
	}
	if why := errors.Claims; why != "" && k.objects.Report(&p.objects, []string{why}) && k.options.Events != NoEvents {
		k.recorder.Event(pod, corev1.EventTypeWarning, "FailedPrepareDynamicResources", "Failed to prepare dynamic resources: %s", why)
	}
	if errors.Mounts != nil && k.objects.Report(&p.objects, errors.Mounts) && k.options.Events != NoEvents {
		for _, m := range errors.Mounts {
			k.recorder.Event(pod, corev1.EventTypeWarning, "FailedMount", "%s", m)
		}
	}
	k.waitForMounts(p, pod, errors)
	return errors, true
}

// mountTimeout is how long a kubelet waits for the volumes of a pod before it says so and tries again.
const mountTimeout = 2*time.Minute + 3*time.Second

// waitForMounts writes an event each time that a pod has waited for its volumes in vain.
func (k *kubelet) waitForMounts(p *pod, of *corev1.Pod, errors dependencies.Errors) {
	if errors.Mounts == nil {
		p.mounting = time.Time{}
		return
	}
	now := time.Now()
	switch {
	case p.mounting.IsZero():
		p.mounting = now
	case now.Sub(p.mounting) < mountTimeout:
		return
	default:
		p.mounting = now
		if errors.Overdue != "" && k.options.Events != NoEvents {
			k.recorder.Event(of, corev1.EventTypeWarning, "FailedMount", "%s", errors.Overdue)
		}
	}
	k.work.AddAfter(podKey{k, of.UID}, mountTimeout)
}
