package node

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/node/lifecycle"
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
	return p.latest, lifecycle.Facts{
		Host: k.host, Pod: k.options.families().Pair(p.ip, k.mu.ips.Six(p.ip)),
		Ends: p.ends, Ending: p.ending, Choice: &p.choice, Node: k,
		BackOff: &p.backOff, Probing: p.probing, RestartPeriod: k.mu.settings.kubelet().CrashLoopBackOff.MaxContainerRestartPeriod.Duration,
	}, nil
}
