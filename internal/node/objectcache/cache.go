package objectcache

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/internal/node/dependencies"
)

// Options of a Cache. All are required.
type Options struct {
	Client   *client.Client
	Log      *slog.Logger
	Node     string              // for the log
	Capacity corev1.ResourceList // of the node, for environments that refer to it
	Lists    chan struct{}       // its capacity bounds the lists at a time
	Watches  *sync.WaitGroup     // counts the goroutines
	Changed  func(types.UID)     // is called with each user of an object that has been read or has changed
}

// Cache holds the objects that the pods of one node use. Make it with New.
type Cache struct {
	Options
	mu struct {
		sync.Mutex
		objects map[dependencies.Key]*object // nil until the first
	}
}

// object is an object that pods use, as last seen.
type object struct {
	users map[types.UID]struct{}
	stop  context.CancelFunc
	known bool
	obj   any // as dependencies.Find returns it; nil if it does not exist
	err   error
}

// Use is the part of a cache that concerns one pod. The zero value is a pod whose objects are not followed yet. The
// lock of the cache guards it.
type Use struct {
	known    bool // keys have been looked up
	fallible bool // see dependencies.Fallible
	released bool
	keys     []dependencies.Key
	reported string                     // the mount errors of the last event
	finalEnv map[string][]corev1.EnvVar // of containers with commands, once the pod has ended
}

// New returns an empty cache.
func New(o Options) *Cache { return &Cache{Options: o} }

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

// find implements dependencies.Find.
func (c *Cache) find(key dependencies.Key) (any, error) {
	switch o := c.mu.objects[key]; {
	case o == nil || !o.known:
		return nil, fmt.Errorf("object %q/%q not registered", key.Namespace, key.Name)
	case o.err != nil:
		return nil, o.err
	case o.obj == nil:
		return nil, dependencies.NotFound(key)
	default:
		return o.obj, nil
	}
}

// trackAll tracks all objects that a pod is known to use, and reports whether there are new ones.
func (c *Cache) trackAll(ctx context.Context, u *Use, pod *corev1.Pod) (more bool) {
	for _, key := range dependencies.Of(pod, c.find) {
		if !slices.Contains(u.keys, key) {
			u.keys, more = append(u.keys, key), true
			c.track(ctx, key, pod.UID)
		}
	}
	return more
}

// track counts a pod as a user of an object, and starts the object's watch for the first user.
func (c *Cache) track(ctx context.Context, key dependencies.Key, uid types.UID) {
	o := c.mu.objects[key]
	if o == nil {
		o = &object{users: map[types.UID]struct{}{}}
		if c.mu.objects == nil {
			c.mu.objects = map[dependencies.Key]*object{}
		}
		c.mu.objects[key] = o
		ctx, o.stop = context.WithCancel(ctx)
		c.Watches.Go(func() { c.watch(ctx, key, o) })
	}
	o.users[uid] = struct{}{}
}

func (c *Cache) untrack(key dependencies.Key, uid types.UID) {
	o := c.mu.objects[key]
	if o == nil {
		return
	}
	if delete(o.users, uid); len(o.users) == 0 {
		o.stop()
		delete(c.mu.objects, key)
	}
}

// changed stores the latest version of an object and calls Options.Changed for the pods that use it.
func (c *Cache) changed(o *object, obj any, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o.known, o.obj, o.err = true, obj, err
	for uid := range o.users {
		c.Changed(uid)
	}
}
