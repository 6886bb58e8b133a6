package node

import (
	"context"
	"net/netip"
	"time"

	"fairlead.dev/internal/fastjson"
	"fairlead.dev/trace"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// sync brings a pod one step on. It returns when the next step is due.
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
	sc := k.options.script(latest)
	sc.evicted = known.evicted
	if !isOver(latest) && latest.DeletionTimestamp == nil && sc.evicted.IsZero() {
		if sc.refusal, err = k.admitted(ctx, latest); err != nil || sc.refusal.waits {
			return turn, err
		}
		if !k.equip(ctx, latest, &sc) {
			return turn, nil // when all that the pod uses has been heard of
		}
		if sc.unmounted != nil {
			k.complain(latest, sc.unmounted)
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
		k.announce(latest, written)
		latest = written
	}
	if st.remove {
		return time.Time{}, key.release(ctx, latest)
	}
	return sooner(st.next, turn), nil
}

// admitted says why a pod does not get what it has come for, if it has.
func (k *kubelet) admitted(ctx context.Context, pod *corev1.Pod) (refusal, error) {
	switch {
	case pod.Status.StartTime == nil:
		return k.admit(ctx, pod, arrival)
	case wantsResize(pod, &pod.Status) && !resizes(pod):
		return k.admit(ctx, pod, resizal)
	}
	return refusal{}, nil
}

// moments are those of a pod's life that its status does not tell.
type moments struct{ ends, evicted time.Time }

// take returns the latest version of a pod and the address it has or is given. The pod
// is nil if it is gone, or out of reach.
func (k *kubelet) take(key podKey) (latest *corev1.Pod, ip netip.Addr, known moments, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p := k.mu.pods[key.uid]
	if p == nil || k.mu.dark {
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

// decided shows what the node is about to write on top of a version. Nobody may see it at
// the server and not here.
func (k *kubelet) decided(key podKey, on, next *corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p := k.mu.pods[key.uid]; p != nil && p.latest == on {
		p.decided = next
		p.news()
	}
}

// wrote notes the version that a status write made, unless the watch was faster.
func (k *kubelet) wrote(key podKey, on, written *corev1.Pod, ends time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p := k.mu.pods[key.uid]
	if p == nil {
		return
	}
	k.mu.images.pulled(written)
	if isStarted(&written.Status) {
		k.leaveVolumes(p, key.uid)
	}
	if isOver(written) {
		k.freed()
	}
	if p.latest == on {
		p.become(written) // what the watch brings next is no news
	}
	p.ends = ends
}

// refused decides about a status write that failed. One on an old version is made
// again when the watch brings the new one; it may have done so already, and then the pod
// is in the queue again.
func (k *kubelet) refused(key podKey, on *corev1.Pod, err error) error {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	k.env.Log.Warn("cannot write a pod's status", "node", k.name, "pod", on.Namespace+"/"+on.Name, "err", err)
	return err
}

// release removes a pod that has ended. That is done once: if the server keeps it for finalizers,
// it will go with them.
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

// remove deletes a pod that has ended, and only this one, not its successor of the
// same name.
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

// trace does something about a pod because of what the pod was when it was last seen.
func (k *kubelet) trace(ctx context.Context, p *corev1.Pod, f func(context.Context) error) error {
	w := &trace.Reconcile{Controller: "node/" + k.name, Key: p.Namespace + "/" + p.Name, Causes: []int64{trace.Revision(p.ResourceVersion)}}
	w.Handed = k.begun(p.UID)
	return k.pods.Trace().Do(ctx, w, f)
}

// arrived tells the trace of an event of the node's watch, and that the pod is queued.
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

// begun is when the pod was queued for what begins now, 0 if it was not by news.
func (k *kubelet) begun(uid types.UID) (handed trace.Instant) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p := k.mu.pods[uid]; p != nil {
		handed, p.handed = p.handed, 0
	}
	return handed
}
