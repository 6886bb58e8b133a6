package node

import (
	"context"
	"net/netip"
	"time"

	"fairlead.dev/internal/codec/fastjson"
	"fairlead.dev/trace"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// sync advances a pod by one step. It returns when the next step is due.
func (key podKey) sync(ctx context.Context) (time.Time, error) {
	k := key.node
	latest, ip, known, err := k.take(key)
	if latest == nil || err != nil {
		return time.Time{}, err
	}
	var turn time.Time
	if known.evicted.IsZero() {
		alone := false
		if alone, turn, err = key.play(ctx, latest, ip); alone || err != nil {
			return turn, err
		}
	}
	sc := k.options.scenario(latest)
	sc.evicted = known.evicted
	if !isOver(latest) && latest.DeletionTimestamp == nil && sc.evicted.IsZero() {
		if sc.admission, err = k.admitted(ctx, latest); err != nil || sc.admission.preempts {
			return turn, err
		}
		if !k.checkNeeds(ctx, latest, &sc) {
			return turn, nil // the last of the objects that the pod uses queues it again
		}
		if sc.mountErrors != nil {
			k.recordMountErrors(latest, sc.mountErrors)
		}
	}
	st := advance(latest, sc, host{k.ip}, ip, time.Now(), known.ends)
	if toSeconds(&st.status); !fastjson.Same(&latest.Status, &st.status) {
		next := *latest
		next.Status = st.status
		k.decided(key, latest, &next)
		var written *corev1.Pod
		err := k.trace(ctx, latest, func(ctx context.Context) (err error) {
			written, err = k.put(ctx, &next)
			return err
		})
		if err != nil {
			return time.Time{}, k.refused(key, latest, err)
		}
		k.wrote(key, latest, written, st.ends)
		k.recordEvents(latest, written)
		latest = written
	}
	if st.remove {
		return time.Time{}, key.release(ctx, latest)
	}
	return earlier(st.next, turn), nil
}

// admitted returns why the node rejects a new pod or a resize, if the pod waits for an answer.
func (k *kubelet) admitted(ctx context.Context, pod *corev1.Pod) (admitResult, error) {
	switch {
	case pod.Status.StartTime == nil:
		return k.admit(ctx, pod, admitPod)
	case wantsResize(pod, &pod.Status) && !resizes(pod):
		return k.admit(ctx, pod, admitResize)
	}
	return admitResult{}, nil
}

// moments are times of a pod that its status does not show.
type moments struct{ ends, evicted time.Time }

// take returns the latest version of a pod and its address, which it allocates if needed. The pod is nil if it is
// gone or its node is in an outage.
func (k *kubelet) take(key podKey) (latest *corev1.Pod, ip netip.Addr, known moments, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p := k.mu.pods[key.uid]
	if p == nil || k.mu.outage {
		return nil, ip, known, nil
	}
	if waits := p.latest.Status.Phase == corev1.PodPending || p.latest.Status.Phase == ""; waits &&
		!p.ip.IsValid() && !p.latest.Spec.HostNetwork && p.latest.DeletionTimestamp == nil {
		if p.ip, err = k.mu.ips.take(); err != nil {
			return nil, ip, known, err
		}
	}
	return p.latest, p.ip, moments{p.ends, p.evicted}, nil
}

// decided publishes the status that the node is about to write on top of a version, so that no client sees it at
// the server first.
func (k *kubelet) decided(key podKey, on, next *corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p := k.mu.pods[key.uid]; p != nil && p.latest == on {
		p.decided = next
		p.news()
	}
}

// wrote stores the version that a status write has made, unless the watch was faster.
func (k *kubelet) wrote(key podKey, on, written *corev1.Pod, ends time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p := k.mu.pods[key.uid]
	if p == nil {
		return
	}
	k.mu.images.pulled(written)
	if isStarted(&written.Status) {
		k.untrackVolumes(p, key.uid)
	}
	if isOver(written) {
		k.retryPreempting()
	}
	if p.latest == on {
		p.become(written) // the watch will bring the same version
	}
	p.ends = ends
}

// refused decides about a status write that failed. A conflicting write is repeated when the watch brings the
// newer version; if it has done so already, the pod is in the queue again.
func (k *kubelet) refused(key podKey, on *corev1.Pod, err error) error {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	k.env.Log.Warn("cannot write a pod's status", "node", k.name, "pod", on.Namespace+"/"+on.Name, "err", err)
	return err
}

// release removes a pod that has ended, once. If finalizers keep it, the server removes it with the last of them.
func (key podKey) release(ctx context.Context, ended *corev1.Pod) error {
	k := key.node
	k.mu.Lock()
	p := k.mu.pods[key.uid]
	k.mu.Unlock()
	if p == nil || p.released {
		return nil
	}
	err := k.remove(ctx, ended)
	p.released = err == nil
	return err
}

// remove deletes a pod that has ended, by its UID, so that a successor of the same name stays.
func (k *kubelet) remove(ctx context.Context, p *corev1.Pod) error {
	err := k.trace(ctx, p, func(ctx context.Context) error {
		return k.pods.Namespace(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{
			GracePeriodSeconds: ptr.To(int64(0)),
			Preconditions:      &metav1.Preconditions{UID: &p.UID},
		})
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
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
