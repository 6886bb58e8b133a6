package node

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/client"
)

func (k *kubelet) selection(revision string) metav1.ListOptions {
	return metav1.ListOptions{
		FieldSelector:       "spec.nodeName=" + k.name,
		ResourceVersion:     revision,
		AllowWatchBookmarks: revision != "",
	}
}

// list replaces the node's pods with those of the server, which a watch begins with: so nodes share the pods with the
// other readers of the process, and none is in memory as text with all others of its node. It returns the watch after
// them, which is nil if the server has no such watches and answered a plain list.
func (k *kubelet) list(ctx context.Context) (w *client.Watch[*corev1.Pod], revision string, err error) {
	if k.listOnly.Load() {
		revision, err = k.plainList(ctx)
		return nil, revision, err
	}
	present := map[types.UID]bool{}
	w, revision, err = k.pods.WatchList(ctx, k.selection(""), func(ev client.Event[*corev1.Pod]) {
		if ev.Type == watch.Deleted {
			delete(present, ev.Object.UID)
			return
		}
		k.seen(ev.Object)
		present[ev.Object.UID] = true
	})
	if errors.Is(err, client.ErrNoWatchList) {
		k.listOnly.Store(true)
		return k.list(ctx)
	}
	if err == nil {
		k.haveOnly(present)
	}
	return w, revision, err
}

func (k *kubelet) plainList(ctx context.Context) (revision string, err error) {
	list, err := k.pods.List(ctx, k.selection(""))
	if err != nil {
		return "", err
	}
	present := map[types.UID]bool{}
	for _, p := range list.Items {
		k.seen(p)
		present[p.UID] = true
	}
	k.haveOnly(present)
	return list.ResourceVersion, nil
}

// haveOnly forgets all pods but those that are present, and has these worked on. All addresses that pods have are reserved
// by then, before any pod gets a new one.
func (k *kubelet) haveOnly(present map[types.UID]bool) {
	k.mu.Lock()
	var gone []types.UID
	for uid := range k.mu.pods {
		if !present[uid] {
			gone = append(gone, uid)
		}
	}
	k.mu.Unlock()
	for _, uid := range gone {
		k.forget(uid)
	}
	for uid := range present {
		k.work.Add(podKey{k, uid})
	}
}
