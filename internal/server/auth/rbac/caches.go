package rbac

import (
	"context"
	"encoding/json"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/watchcache"
)

// Caches are the watch caches that a Source reads.
type Caches struct {
	Roles, RoleBindings, ClusterRoles, ClusterRoleBindings *watchcache.Cache
	// Shared has what sources of several stores share; nil for none.
	Shared *Shared
}

// Source follows the caches with a cursor in each; a Poll without changes costs four checks. It waits for no bell,
// so everything in a cache counts.
func (c Caches) Source() Source {
	return &caches{
		Caches:              c,
		roles:               follower[rbacv1.Role]{cache: c.Roles, shared: c.Shared},
		roleBindings:        follower[rbacv1.RoleBinding]{cache: c.RoleBindings, shared: c.Shared},
		clusterRoles:        follower[rbacv1.ClusterRole]{cache: c.ClusterRoles, shared: c.Shared},
		clusterRoleBindings: follower[rbacv1.ClusterRoleBinding]{cache: c.ClusterRoleBindings, shared: c.Shared},
	}
}

type caches struct {
	Caches
	// shown: a Poll has returned the shared objects.
	shown               bool
	dirty               bool // changes not yet returned by a Poll
	roles               follower[rbacv1.Role]
	roleBindings        follower[rbacv1.RoleBinding]
	clusterRoles        follower[rbacv1.ClusterRole]
	clusterRoleBindings follower[rbacv1.ClusterRoleBinding]
}

func (c *caches) Poll(ctx context.Context) (o Objects, changed bool, err error) {
	if c.unchanged(ctx) && (c.shown || c.Shared.policy.Load() != nil) {
		changed, c.shown = !c.shown, true
		return Objects{shared: c.Shared}, changed, nil
	}
	for _, poll := range []func(context.Context) (bool, error){
		c.roles.poll, c.roleBindings.poll, c.clusterRoles.poll, c.clusterRoleBindings.poll,
	} {
		one, err := poll(ctx)
		c.dirty = c.dirty || one
		if err != nil {
			return o, false, err
		}
	}
	if !c.dirty {
		return o, false, nil
	}
	c.dirty = false
	o = Objects{
		Roles: c.roles.list(), RoleBindings: c.roleBindings.list(),
		ClusterRoles: c.clusterRoles.list(), ClusterRoleBindings: c.clusterRoleBindings.list(),
	}
	if c.unchanged(ctx) {
		o.shared, c.shown = c.Shared, true
	}
	return o, true, nil
}

// unchanged reports whether the caches hold the shared objects and no others.
func (c *caches) unchanged(ctx context.Context) bool {
	if c.Shared == nil {
		return false
	}
	for _, cache := range []*watchcache.Cache{c.Roles, c.RoleBindings, c.ClusterRoles, c.ClusterRoleBindings} {
		at, err := cache.Changed(ctx, watchcache.ReadAt{Match: watchcache.Any})
		if err != nil || at > c.Shared.upTo {
			return false
		}
	}
	return true
}

// follower keeps the decoded objects of one cache.
type follower[T any] struct {
	cache   *watchcache.Cache
	shared  *Shared
	watcher *watchcache.Watcher
	objects map[string]*T
}

func (f *follower[T]) poll(ctx context.Context) (bool, error) {
	if f.watcher == nil {
		return true, f.start(ctx)
	}
	changed, err := f.apply()
	if err != nil { // fell behind: start again
		f.watcher.Close()
		f.watcher = nil
		return true, f.start(ctx)
	}
	return changed, nil
}

// apply applies the watcher's events.
func (f *follower[T]) apply() (bool, error) {
	events, _, err := f.watcher.Next()
	if err != nil {
		return false, err
	}
	for _, e := range events {
		if e.Type == watch.Deleted {
			delete(f.objects, e.Object.Key())
		} else {
			f.put(e.Object)
		}
	}
	return len(events) > 0, nil
}

// start takes a snapshot and follows it from there.
func (f *follower[T]) start(ctx context.Context) error {
	s, err := f.cache.Snapshot(ctx, watchcache.ReadAt{Match: watchcache.Any})
	if err != nil {
		return err
	}
	list, err := s.List(readable, "", 0)
	if err != nil {
		return err
	}
	f.objects = map[string]*T{}
	for o := range list {
		f.put(o)
	}
	f.watcher, err = f.cache.WatchFrom(ctx, s, readable)
	return err
}

// readable selects all objects except unreadable ones, which grant no rights.
var readable = watchcache.Selection{Readable: true}

// put adds an object. One that cannot be decoded grants no rights.
func (f *follower[T]) put(o *watchcache.Object) {
	t, err := f.decode(o)
	if err != nil {
		delete(f.objects, o.Key())
		return
	}
	f.objects[o.Key()] = t
}

// decode returns the decoded object, which must not be modified.
func (f *follower[T]) decode(o *watchcache.Object) (*T, error) {
	share := f.shared != nil && o.Revision() <= f.shared.upTo
	if share {
		if t, ok := f.shared.objects.Load(o.Key()); ok {
			return t.(*T), nil
		}
	}
	t := new(T)
	if err := json.Unmarshal(o.Value(), t); err != nil {
		return nil, err
	}
	if share {
		f.shared.objects.Store(o.Key(), t)
	}
	return t, nil
}

func (f *follower[T]) list() []*T {
	list := make([]*T, 0, len(f.objects))
	for _, o := range f.objects {
		list = append(list, o)
	}
	return list
}
