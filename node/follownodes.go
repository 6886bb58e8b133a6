package node

import (
	"context"
	"errors"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/internal/nodekind"
)

// followNodes passes each Node to its kubelet, and starts one for each Node that is to be simulated and has none. All nodes
// share one watch.
func (ns *Nodes) followNodes(ctx context.Context) {
	revision := ""
	for ctx.Err() == nil {
		began := time.Now()
		err := ns.readNodes(ctx, &revision)
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			revision = ""
		} else if ctx.Err() == nil && (!errors.Is(err, io.EOF) || time.Since(began) < time.Second) {
			ns.env.Log.Debug("watch of the nodes ended", "err", err)
			pause(ctx, time.Second)
		}
	}
}

// readNodes reads the list and the watch until it ends, and returns why; revision advances with it.
func (ns *Nodes) readNodes(ctx context.Context, revision *string) error {
	if *revision == "" {
		list, err := ns.nodes.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		ns.listed(ctx, list.Items)
		*revision = list.ResourceVersion
	}
	w, err := ns.nodes.Watch(ctx, metav1.ListOptions{ResourceVersion: *revision, AllowWatchBookmarks: true})
	if err != nil {
		return err
	}
	defer w.Stop()
	for {
		ev, err := w.Next(ctx)
		if err != nil {
			return err
		}
		*revision = ev.Object.ResourceVersion
		switch ev.Type {
		case watch.Added, watch.Modified:
			ns.present(ctx, ev.Object)
		case watch.Deleted:
			if k := ns.roster.named(ev.Object.Name); k != nil {
				k.deleted(ev.Object.UID)
			}
		}
	}
}

// listed handles the list of all Nodes. The first one ends the wait for it.
func (ns *Nodes) listed(ctx context.Context, nodes []*corev1.Node) {
	uids := map[string]bool{}
	for _, n := range nodes {
		uids[string(n.UID)] = true
		ns.present(ctx, n)
	}
	for _, k := range ns.roster.all() {
		if uid := k.seenUID(); uid != "" && !uids[string(uid)] {
			k.deleted(uid)
		}
	}
	ns.firstList.Do(ns.oneJoined)
}

// present handles a Node that exists.
func (ns *Nodes) present(ctx context.Context, n *corev1.Node) {
	k := ns.roster.named(n.Name)
	if k != nil && k.isOver(n.UID) {
		k.stop()
		<-k.stopped
		k = nil
	}
	if k == nil && ns.adopts(n) {
		var err error
		if k, err = ns.applied(n); err != nil {
			ns.env.Log.Warn("node is not simulated", "node", n.Name, "err", err)
			return
		}
		ns.absent.Add(1)
		ns.roster.add(k)
		k.start(ctx)
	}
	if k != nil && nodekind.IsSimulated(n) {
		k.observe(n)
	}
}

// start starts the node's goroutine, which ends with ctx or by stop.
func (k *kubelet) start(ctx context.Context) {
	own, stop := context.WithCancel(ctx)
	k.stop = stop
	k.running.Go(func() {
		defer close(k.stopped)
		defer k.roster.remove(k)
		defer k.hasJoined()
		defer stop()
		k.run(own)
		if ctx.Err() == nil {
			k.release()
		}
	})
}

// release forgets all pods, since the node has ended and the others go on.
func (k *kubelet) release() {
	k.mu.Lock()
	uids := make([]types.UID, 0, len(k.mu.pods))
	for uid := range k.mu.pods {
		uids = append(uids, uid)
	}
	k.mu.Unlock()
	for _, uid := range uids {
		k.forget(uid)
	}
}

// seenUID returns the UID of the Node as last seen; "" before.
func (k *kubelet) seenUID() types.UID {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.mu.uid
}

// isOver reports whether the Node was deleted, since one with another UID has its name now.
func (k *kubelet) isOver(now types.UID) bool {
	uid := k.seenUID()
	return uid != "" && uid != now
}

// deleted marks the node whose Node was deleted. It renews no lease any more, and ends with its last pod.
func (k *kubelet) deleted(uid types.UID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.mu.uid != uid {
		return
	}
	k.mu.deleted = true
	k.beat()
	k.endWithLastPod()
}

// endWithLastPod stops a node that was deleted and has no pods. mu is held.
func (k *kubelet) endWithLastPod() {
	if k.mu.deleted && len(k.mu.pods) == 0 {
		k.stop()
	}
}
