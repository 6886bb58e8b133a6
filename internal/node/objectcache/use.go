package objectcache

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/node/dependencies"
)

// Env returns the environment of a container, with the values from config maps, secrets and fields of the pod.
func (c *Cache) Env(u *Use, pod *corev1.Pod, of *corev1.Container) (env []corev1.EnvVar) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if env := u.finalEnv[of.Name]; env != nil {
		return env
	}
	env, _ = dependencies.Env(pod, of, c.find, c.Capacity)
	return env
}

// Release removes a pod that has ended, or is gone, from the users of all its objects. It keeps the final
// environments of containers with commands, since their logs may show them.
func (c *Cache) Release(u *Use, pod *corev1.Pod) {
	c.mu.Lock()
	defer c.mu.Unlock()
	u.released = true
	if len(u.keys) > 0 {
		u.finalEnv = map[string][]corev1.EnvVar{}
		for i := range pod.Spec.Containers {
			of := &pod.Spec.Containers[i]
			if len(of.Command) > 0 {
				u.finalEnv[of.Name], _ = dependencies.Env(pod, of, c.find, c.Capacity)
			}
		}
	}
	for _, key := range u.keys {
		c.untrack(key, pod.UID)
	}
	u.keys = nil
}

// ReleaseVolumes removes a started pod from the users of its claims and the objects behind them, which it needed
// only to mount its volumes.
func (c *Cache) ReleaseVolumes(u *Use, pod *corev1.Pod) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rest := u.keys[:0]
	for _, key := range u.keys {
		if key.Kind >= dependencies.Claim {
			c.untrack(key, pod.UID)
		} else {
			rest = append(rest, key)
		}
	}
	u.keys = rest
}

// Report reports whether the mount errors of a pod differ from the last ones that were reported, and keeps them as
// such.
func (c *Cache) Report(u *Use, messages []string) bool {
	text := fmt.Sprint(messages)
	c.mu.Lock()
	defer c.mu.Unlock()
	changed := u.reported != text
	u.reported = text
	return changed
}
