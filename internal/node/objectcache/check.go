package objectcache

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/node/dependencies"
)

// Check returns the mount and configuration errors of a pod. known is false until all objects that the pod uses
// have been read; Options.Changed is called then.
func (c *Cache) Check(ctx context.Context, u *Use, pod *corev1.Pod) (errors dependencies.Errors, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if u.released {
		return errors, false
	}
	if !u.known {
		u.known, u.fallible = true, dependencies.Fallible(pod)
		c.trackAll(ctx, u, pod)
	}
	if len(u.keys) == 0 && !u.fallible {
		return errors, true
	}
	for _, key := range u.keys {
		if o := c.mu.objects[key]; o != nil && !o.known {
			return errors, false
		}
	}
	if pod.Status.PodIP == "" { // volumes are mounted before the pod has an IP, and stay
		if c.trackAll(ctx, u, pod) { // an object that was read refers to others
			return errors, false
		}
		if errors.Mounts = dependencies.Volumes(pod, c.find); errors.Mounts != nil {
			errors.Overdue = dependencies.Overdue(pod, c.find)
			return errors, true
		}
		if errors.Claims = dependencies.Claims(pod, c.find, c.GroupClaims); errors.Claims != "" {
			return errors, true
		}
	}
	errors.Containers = c.configErrors(pod)
	return errors, true
}

// configErrors returns a message for each container that has a configuration error, by container name. c.mu is
// held; so below.
func (c *Cache) configErrors(pod *corev1.Pod) (messages map[string]string) {
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			env, err := dependencies.Env(pod, &list[i], c.find, c.Capacity)
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

// trackAll tracks all objects that a pod is known to use, and reports whether there are new ones.
func (c *Cache) trackAll(ctx context.Context, u *Use, pod *corev1.Pod) (more bool) {
	for _, key := range dependencies.Of(pod, c.find) {
		if !slices.Contains(u.keys, key) {
			u.keys, more = append(u.keys, key), true
			c.track(ctx, key, pod)
		}
	}
	return more
}

// track counts a pod as a user of an object, and starts the object's watch for the first user.
func (c *Cache) track(ctx context.Context, key dependencies.Key, pod *corev1.Pod) {
	o := c.mu.objects[key]
	if o == nil {
		o = &object{users: map[types.UID]struct{}{}}
		if c.mu.objects == nil {
			c.mu.objects = map[dependencies.Key]*object{}
		}
		c.mu.objects[key] = o
		ctx, o.stop = context.WithCancel(ctx)
		c.Watches.Go(func() { c.watch(ctx, key, o, pod) })
	}
	o.users[pod.UID] = struct{}{}
}
