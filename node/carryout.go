package node

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/internal/node/lifecycle"
	"fairlead.dev/internal/node/stage"
)

// carryOut writes a step of a pod. It returns when to look again.
func (key podKey) carryOut(ctx context.Context, pod *corev1.Pod, step lifecycle.Step) (time.Time, error) {
	k := key.node
	var err error
	if step.Status != nil {
		next := *pod
		next.Status = *step.Status
		pod, err = key.write(ctx, pod, &next, func(ctx context.Context) (*corev1.Pod, error) { return k.put(ctx, &next) })
		if err == nil {
			k.keepEnds(key, step.Ends)
		}
	}
	if err == nil && len(step.Actions) > 0 {
		pod, err = carryOut(k, pod, step.Actions, func(pod *corev1.Pod, p *stage.Patch) (*corev1.Pod, error) {
			next := &corev1.Pod{}
			if !stage.Apply(p, pod, next) {
				next = nil
			}
			return key.write(ctx, pod, next, func(ctx context.Context) (*corev1.Pod, error) {
				return patch[*corev1.Pod](ctx, k.Nodes, pod.Namespace, pod.Name, p)
			})
		}, func(pod *corev1.Pod) error { return key.release(ctx, pod) })
	}
	lost := apierrors.IsConflict(err) || apierrors.IsNotFound(err)
	if lost {
		// The watch brings the newer version; if it has done so already, the pod is in the queue again.
		step.Next, err = time.Time{}, nil
	}
	if err != nil {
		k.env.Log.Warn("cannot write a pod", "node", k.name, "pod", pod.Namespace+"/"+pod.Name, "err", err)
		return time.Time{}, err
	}
	if step.Played != nil {
		step.Played.Done(time.Now())
	}
	if step.Probing != nil && !lost {
		k.keepProbing(key, step.Probing)
	}
	return step.Next, nil
}

// carryOut takes actions on an object in their order, and returns it as the last of them left it.
func carryOut[T client.Object](k *kubelet, obj T, actions []stage.Action, patch func(T, *stage.Patch) (T, error), remove func(T) error) (T, error) {
	var err error
	for _, a := range actions {
		switch {
		case a.Event != nil:
			k.recorder.Event(obj, a.Event.Type, a.Event.Reason, "%s", a.Event.Message)
		case a.Delete:
			err = remove(obj)
		default:
			obj, err = patch(obj, a.Patch)
		}
		if err != nil {
			break
		}
	}
	return obj, err
}

// write publishes the change of a pod that the node is about to write, so that no client sees it at the server
// first, writes it and returns the version that the server then has. next is nil if the outcome cannot be foreseen.
func (key podKey) write(ctx context.Context, on, next *corev1.Pod, send func(context.Context) (*corev1.Pod, error)) (written *corev1.Pod, err error) {
	k := key.node
	if next != nil {
		k.mu.Lock()
		if p := k.mu.pods[key.uid]; p != nil && p.latest == on {
			p.decided = next
			p.news()
		}
		k.mu.Unlock()
	}
	err = k.trace(ctx, on, func(ctx context.Context) (err error) {
		written, err = send(ctx)
		return err
	})
	if err != nil {
		return on, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	p := k.mu.pods[key.uid]
	if p == nil || written.UID != key.uid {
		return written, nil
	}
	k.mu.images.Add(written)
	if lifecycle.IsStarted(&written.Status) {
		k.objects.ReleaseVolumes(&p.objects, written)
	}
	if lifecycle.IsOver(&written.Status) {
		k.podEnded(key.uid)
	}
	if p.latest == on || isNewer(written, p.latest) {
		p.become(written) // otherwise the watch was faster
	}
	return written, nil
}

// keepEnds stores when the containers of a pod exit.
func (k *kubelet) keepEnds(key podKey, ends time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p := k.mu.pods[key.uid]; p != nil {
		p.ends = ends
	}
}

// keepProbing stores what is known of the probes of a pod.
func (k *kubelet) keepProbing(key podKey, probing *lifecycle.Probing) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p := k.mu.pods[key.uid]; p != nil {
		p.probing = probing
	}
}

// release removes a pod that has ended, once. If finalizers keep it, the server removes it with the last of them.
func (key podKey) release(ctx context.Context, ended *corev1.Pod) error {
	p := key.node.pod(key.uid)
	if p == nil || p.released {
		return nil
	}
	err := key.node.remove(ctx, ended)
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

// patch sends a patch of a stage.
func patch[T client.Object](ctx context.Context, ns *Nodes, namespace, name string, p *stage.Patch) (T, error) {
	c := ns.env.Client
	if p.As != "" {
		c = c.As(p.As)
	}
	r := client.For[T](c).WithoutManagedFields()
	if namespace != "" {
		r = r.Namespace(namespace)
	}
	return r.Patch(ctx, name, client.Patch{Type: p.Type, Data: p.Data}.On(p.Subresource))
}
