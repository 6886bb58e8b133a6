package node

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/node/dependencies"
)

// usedObject is an object that pods of a node use, as last seen. One watch for each node and object begins with
// the first pod that uses the object and ends with the last.
type usedObject struct {
	users map[types.UID]struct{}
	stop  context.CancelFunc
	known bool
	obj   any // as dependencies.Find returns it; nil if it does not exist
	err   error
}

// checkNeeds fills in the mount and configuration errors of a pod. ok is false until all objects that the pod uses
// have been read; the pod is then queued again.
func (k *kubelet) checkNeeds(ctx context.Context, pod *corev1.Pod, sc *scenario) (ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p := k.mu.pods[pod.UID]
	if p == nil {
		return false
	}
	if !p.needs.known {
		p.needs.known, p.needs.fallible = true, dependencies.Fallible(pod)
		k.trackAll(ctx, p, pod)
	}
	if len(p.needs.keys) == 0 && !p.needs.fallible {
		return true
	}
	for _, key := range p.needs.keys {
		if u := k.mu.objects[key]; u != nil && !u.known {
			return false
		}
	}
	if pod.Status.PodIP == "" && k.trackAll(ctx, p, pod) { // an object that was read refers to others
		return false
	}
	if pod.Status.PodIP == "" { // volumes are mounted before the pod has an IP, and stay
		if sc.mountErrors = dependencies.Volumes(pod, k.find); sc.mountErrors != nil {
			return true
		}
	}
	if isStarted(&pod.Status) {
		k.untrackVolumes(p, pod.UID)
	}
	sc.configErrors = k.configErrors(pod)
	return true
}

// trackAll tracks all objects that a pod is known to use, and reports whether there are new ones.
func (k *kubelet) trackAll(ctx context.Context, p *pod, pod *corev1.Pod) (more bool) {
	for _, key := range dependencies.Of(pod, k.find) {
		if !slices.Contains(p.needs.keys, key) {
			p.needs.keys, more = append(p.needs.keys, key), true
			k.track(ctx, key, pod.UID)
		}
	}
	return more
}

// configErrors returns a message for each container that has a configuration error, by container name.
func (k *kubelet) configErrors(pod *corev1.Pod) (messages map[string]string) {
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			env, err := dependencies.Env(pod, &list[i], k.find, k.options.Capacity)
			if err == nil {
				err = dependencies.Mounts(&list[i], env)
			}
			if err != nil {
				if messages == nil {
					messages = map[string]string{}
				}
				messages[list[i].Name] = err.Error()
			}
		}
	}
	return messages
}

// Env implements kubelet.Pods.
func (ns *Nodes) Env(pod *corev1.Pod, c *corev1.Container) (env []corev1.EnvVar) {
	k := ns.named(pod.Spec.NodeName)
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if p := k.mu.pods[pod.UID]; p != nil && p.needs.finalEnv[c.Name] != nil {
		return p.needs.finalEnv[c.Name]
	}
	env, _ = dependencies.Env(pod, c, k.find, k.options.Capacity)
	return env
}

// find implements dependencies.Find. k.mu is held; so below.
func (k *kubelet) find(key dependencies.Key) (any, error) {
	switch u := k.mu.objects[key]; {
	case u == nil || !u.known:
		return nil, fmt.Errorf("object %q/%q not registered", key.Namespace, key.Name)
	case u.err != nil:
		return nil, u.err
	case u.obj == nil:
		return nil, dependencies.NotFound(key)
	default:
		return u.obj, nil
	}
}

// track counts a pod as a user of an object, and starts the object's watch for the first user.
func (k *kubelet) track(ctx context.Context, key dependencies.Key, uid types.UID) {
	u := k.mu.objects[key]
	if u == nil {
		u = &usedObject{users: map[types.UID]struct{}{}}
		if k.mu.objects == nil {
			k.mu.objects = map[dependencies.Key]*usedObject{}
		}
		k.mu.objects[key] = u
		ctx, u.stop = context.WithCancel(ctx)
		k.watching.Go(func() { k.watch(ctx, key, u) })
	}
	u.users[uid] = struct{}{}
}

// untrack removes a pod from the users of all its objects. It keeps the final environments of containers with
// commands, since their logs may show them.
func (k *kubelet) untrack(p *pod, uid types.UID) {
	if len(p.needs.keys) > 0 {
		p.needs.finalEnv = map[string][]corev1.EnvVar{}
		for i := range p.latest.Spec.Containers {
			c := &p.latest.Spec.Containers[i]
			if len(c.Command) > 0 {
				p.needs.finalEnv[c.Name], _ = dependencies.Env(p.latest, c, k.find, k.options.Capacity)
			}
		}
	}
	for _, key := range p.needs.keys {
		k.untrackOne(key, uid)
	}
	p.needs.keys = nil
}

// untrackVolumes removes a started pod from the users of its claims and the objects behind them, which it needed
// only to mount its volumes.
func (k *kubelet) untrackVolumes(p *pod, uid types.UID) {
	rest := p.needs.keys[:0]
	for _, key := range p.needs.keys {
		if key.Kind >= dependencies.Claim {
			k.untrackOne(key, uid)
		} else {
			rest = append(rest, key)
		}
	}
	p.needs.keys = rest
}

func (k *kubelet) untrackOne(key dependencies.Key, uid types.UID) {
	u := k.mu.objects[key]
	if u == nil {
		return
	}
	if delete(u.users, uid); len(u.users) == 0 {
		u.stop()
		delete(k.mu.objects, key)
	}
}

// objectChanged stores the latest version of an object and queues the pods that use it.
func (k *kubelet) objectChanged(u *usedObject, obj any, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	u.known, u.obj, u.err = true, obj, err
	for uid := range u.users {
		k.work.Add(podKey{k, uid})
	}
}

// recordMountErrors writes an event for each volume that cannot be mounted. It repeats them only when the messages
// have changed.
func (k *kubelet) recordMountErrors(pod *corev1.Pod, messages []string) {
	text := fmt.Sprint(messages)
	k.mu.Lock()
	p := k.mu.pods[pod.UID]
	told := p == nil || p.needs.reported == text
	if p != nil {
		p.needs.reported = text
	}
	k.mu.Unlock()
	if told || k.options.Events == NoEvents {
		return
	}
	for _, m := range messages {
		k.recorder.Event(pod, corev1.EventTypeWarning, "FailedMount", "%s", m)
	}
}
