package objectcache

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/internal/node/dependencies"
)

// Options of a Cache. All but GroupClaims are required.
type Options struct {
	Client   *client.Client
	Log      *slog.Logger
	Node     string              // for the log
	Capacity corev1.ResourceList // of the node, for environments that refer to it
	Lists    chan struct{}       // its capacity bounds the lists at a time
	Watches  *sync.WaitGroup     // counts the goroutines
	Changed  func(types.UID)     // is called with each user of an object that has been read or has changed
	// GroupClaims: pods may use the ResourceClaims of their groups.
	GroupClaims bool
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

// find implements dependencies.Find. c.mu is held; so below.
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
