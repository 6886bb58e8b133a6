package node

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/node/lifecycle"
	"fairlead.dev/trace"
)

// sync takes the next step of a pod. It returns when to look again.
func (key podKey) sync(ctx context.Context) (time.Time, error) {
	k := key.node
	pod, facts, err := k.take(key)
	if pod == nil || err != nil {
		return time.Time{}, err
	}
	step, err := k.lifecycle.Next(ctx, pod, facts, time.Now())
	if err != nil {
		if ctx.Err() == nil {
			k.env.Log.Warn("cannot decide the next step of a pod", "node", k.name, "pod", pod.Namespace+"/"+pod.Name, "err", err)
		}
		return step.Next, err
	}
	return key.carryOut(ctx, pod, step)
}

// take returns the latest version of a pod and the facts about it. Its address is allocated if needed. The pod is
// nil if it is gone or its node is in an outage.
func (k *kubelet) take(key podKey) (latest *corev1.Pod, f lifecycle.Facts, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p := k.mu.pods[key.uid]
	if p == nil || k.mu.outage {
		return nil, f, nil
	}
	if waits := p.latest.Status.Phase == corev1.PodPending || p.latest.Status.Phase == ""; waits &&
		!p.ip.IsValid() && !p.latest.Spec.HostNetwork && p.latest.DeletionTimestamp == nil {
		if p.ip, err = k.mu.ips.Take(); err != nil {
			return nil, f, err
		}
	}
	return p.latest, lifecycle.Facts{HostIP: k.ip, PodIP: p.ip, Ends: p.ends, Preempted: p.preempted, Choice: &p.choice, Node: k}, nil
}

// trace runs f, which writes a pod, with the version that caused the write.
func (k *kubelet) trace(ctx context.Context, p *corev1.Pod, f func(context.Context) error) error {
	w := &trace.Reconcile{Controller: "node/" + k.name, Key: p.Namespace + "/" + p.Name, Causes: []int64{trace.Revision(p.ResourceVersion)}}
	w.Handed = k.begun(p.UID)
	return k.pods.Trace().Do(ctx, w, f)
}

// arrived traces an event of the node's watch and that the pod is queued.
func (k *kubelet) arrived(pod *corev1.Pod, opened, read, decoded trace.Instant) {
	log := k.pods.Trace()
	if log == nil {
		return
	}
	now := log.Now()
	log.Arrived(k.watched, trace.Revision(pod.ResourceVersion), opened, read, decoded, now)
	k.mu.Lock()
	defer k.mu.Unlock()
	if p := k.mu.pods[pod.UID]; p != nil {
		p.handed = now
	}
}

// begun returns when the pod was queued for the work that begins now; 0 if no event queued it.
func (k *kubelet) begun(uid types.UID) (handed trace.Instant) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p := k.mu.pods[uid]; p != nil {
		handed, p.handed = p.handed, 0
	}
	return handed
}
