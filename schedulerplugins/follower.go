package schedulerplugins

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/client"
)

// A follower waits until a shared informer, which has a watch of its own, is as new as the scheduler's objects. A plugin then finds the
// pod of an attempt in the lister, and no pods that had to go for it, as with kube-scheduler's only informer.
type follower struct {
	store   cache.Store
	heard   chan struct{} // has a value after a change of the store
	version string        // the latest that the scheduler has
	deleted map[string]types.UID
	nominee map[string]string // the nodes to which PostFilter plugins have nominated pods, until their status has them
}

// longestLag bounds the time for which an attempt waits for a shared informer, whose watch may be interrupted.
const longestLag = time.Second

func newFollower(store cache.Store) *follower {
	return &follower{store: store, heard: make(chan struct{}, 1), deleted: map[string]types.UID{}, nominee: map[string]string{}}
}

// note is called after a change of the store.
func (f *follower) note() {
	select {
	case f.heard <- struct{}{}:
	default:
	}
}

// has notes a version of an object that the scheduler has, or its deletion.
func (f *follower) has(old, o client.Object) {
	if o == nil {
		f.deleted[cache.MetaObjectToName(old).String()] = old.GetUID()
		return
	}
	if later(o.GetResourceVersion(), f.version) {
		f.version = o.GetResourceVersion()
	}
}

// nominates notes a nomination whose status the scheduler writes in the background.
func (f *follower) nominates(pod *corev1.Pod, node string) {
	f.nominee[cache.MetaObjectToName(pod).String()] = node
}

func later(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return b == "" || err == nil && order > 0
}

func (f *follower) behind() bool {
	for key, uid := range f.deleted {
		if o, is, _ := f.store.GetByKey(key); is && o.(client.Object).GetUID() == uid {
			return true
		}
		delete(f.deleted, key)
	}
	for key, node := range f.nominee {
		o, _, _ := f.store.GetByKey(key)
		if pod, is := o.(*corev1.Pod); is && pod.Spec.NodeName == "" && pod.Status.NominatedNodeName != node {
			return true
		}
		delete(f.nominee, key)
	}
	return f.version != "" && later(f.version, f.store.LastStoreSyncResourceVersion())
}

// wait waits until the store is as new as the scheduler's objects.
func (f *follower) wait(ctx context.Context) {
	if !f.behind() {
		return
	}
	limit := time.NewTimer(longestLag)
	defer limit.Stop()
	for f.behind() {
		select {
		case <-f.heard:
		case <-ctx.Done():
			return
		case <-limit.C:
			f.version = ""
			clear(f.deleted)
			clear(f.nominee)
			return
		}
	}
}
