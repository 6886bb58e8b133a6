package node

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/node/needs"
)

// used is an object that pods of a node use, as its watch tells it. There is one watch for each
// node and object; it begins with the first pod that uses the object and ends with the last.
type used struct {
	users map[types.UID]struct{}
	stop  context.CancelFunc
	heard bool
	obj   any // as needs.Find tells it; nil if it is not there
	err   error
}

// equip tells the script what the pod lacks. It is not ok as long as not all is heard of what
// the pod uses; the pod is then looked at again.
func (k *kubelet) equip(ctx context.Context, pod *corev1.Pod, sc *script) (ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p := k.mu.pods[pod.UID]
	if p == nil {
		return false
	}
	if !p.uses.known {
		p.uses.known, p.uses.fallible = true, needs.Fallible(pod)
		k.useAll(ctx, p, pod)
	}
	if len(p.uses.keys) == 0 && !p.uses.fallible {
		return true
	}
	for _, key := range p.uses.keys {
		if u := k.mu.used[key]; u != nil && !u.heard {
			return false
		}
	}
	if pod.Status.PodIP == "" && k.useAll(ctx, p, pod) { // what was heard names others
		return false
	}
	if pod.Status.PodIP == "" { // volumes are set up before there is one, and stay
		if sc.unmounted = needs.Volumes(pod, k.find); sc.unmounted != nil {
			return true
		}
	}
	if isStarted(&pod.Status) {
		k.leaveVolumes(p, pod.UID)
	}
	sc.unmade = k.unmade(pod)
	return true
}

// useAll notes all that a pod uses, as far as it is known by now, and reports whether there is more than before.
func (k *kubelet) useAll(ctx context.Context, p *pod, pod *corev1.Pod) (more bool) {
	for _, key := range needs.Of(pod, k.find) {
		if !slices.Contains(p.uses.keys, key) {
			p.uses.keys, more = append(p.uses.keys, key), true
			k.use(ctx, key, pod.UID)
		}
	}
	return more
}

// unmade says of containers why they cannot be made, nil if all can.
func (k *kubelet) unmade(pod *corev1.Pod) (messages map[string]string) {
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			env, err := needs.Env(pod, &list[i], k.find, k.options.Capacity)
			if err == nil {
				err = needs.Mounts(&list[i], env)
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

// Env is the environment of a container that config maps and secrets make; see kubelet.Pods.
func (ns *Nodes) Env(pod *corev1.Pod, c *corev1.Container) (env []corev1.EnvVar) {
	k := ns.named(pod.Spec.NodeName)
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if p := k.mu.pods[pod.UID]; p != nil && p.uses.last[c.Name] != nil {
		return p.uses.last[c.Name]
	}
	env, _ = needs.Env(pod, c, k.find, k.options.Capacity)
	return env
}

// find is a needs.Find. The node's lock is held; so below.
func (k *kubelet) find(key needs.Key) (any, error) {
	switch u := k.mu.used[key]; {
	case u == nil || !u.heard:
		return nil, fmt.Errorf("object %q/%q not registered", key.Namespace, key.Name)
	case u.err != nil:
		return nil, u.err
	case u.obj == nil:
		return nil, needs.NotFound(key)
	default:
		return u.obj, nil
	}
}

// use notes that a pod uses an object, and watches that if no other does.
func (k *kubelet) use(ctx context.Context, key needs.Key, uid types.UID) {
	u := k.mu.used[key]
	if u == nil {
		u = &used{users: map[types.UID]struct{}{}}
		if k.mu.used == nil {
			k.mu.used = map[needs.Key]*used{}
		}
		k.mu.used[key] = u
		ctx, u.stop = context.WithCancel(ctx)
		k.watching.Go(func() { k.watch(ctx, key, u) })
	}
	u.users[uid] = struct{}{}
}

// leave notes that a pod uses nothing any more; its log may go on telling what it has used.
func (k *kubelet) leave(p *pod, uid types.UID) {
	if len(p.uses.keys) > 0 {
		p.uses.last = map[string][]corev1.EnvVar{}
		for i := range p.latest.Spec.Containers {
			c := &p.latest.Spec.Containers[i]
			if len(c.Command) > 0 {
				p.uses.last[c.Name], _ = needs.Env(p.latest, c, k.find, k.options.Capacity)
			}
		}
	}
	for _, key := range p.uses.keys {
		k.leaveOne(key, uid)
	}
	p.uses.keys = nil
}

// leaveVolumes lets go of what a pod that has started has only waited for, to have its volumes.
func (k *kubelet) leaveVolumes(p *pod, uid types.UID) {
	rest := p.uses.keys[:0]
	for _, key := range p.uses.keys {
		if key.Kind >= needs.Claim {
			k.leaveOne(key, uid)
		} else {
			rest = append(rest, key)
		}
	}
	p.uses.keys = rest
}

func (k *kubelet) leaveOne(key needs.Key, uid types.UID) {
	u := k.mu.used[key]
	if u == nil {
		return
	}
	if delete(u.users, uid); len(u.users) == 0 {
		u.stop()
		delete(k.mu.used, key)
	}
}

// hear takes in what the watch of an object tells, and looks at the pods that use it.
func (k *kubelet) hear(u *used, obj any, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	u.heard, u.obj, u.err = true, obj, err
	for uid := range u.users {
		k.work.Add(podKey{k, uid})
	}
}

// complain tells of volumes that cannot be set up, once as long as nothing else is wrong.
func (k *kubelet) complain(pod *corev1.Pod, messages []string) {
	text := fmt.Sprint(messages)
	k.mu.Lock()
	p := k.mu.pods[pod.UID]
	told := p == nil || p.uses.told == text
	if p != nil {
		p.uses.told = text
	}
	k.mu.Unlock()
	if told || k.options.Events == NoEvents {
		return
	}
	for _, m := range messages {
		k.recorder.Event(pod, corev1.EventTypeWarning, "FailedMount", "%s", m)
	}
}
