package node

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/trace"
)

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
