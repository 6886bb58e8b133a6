package node

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/client"
	"fairlead.dev/internal/node/lifecycle"
)

// run is the goroutine of a node: it registers and then follows the node's pods.
func (k *kubelet) run(ctx context.Context) {
	var err error
	for !k.join(ctx, func(ctx context.Context) error {
		if err = k.register(ctx); errors.Is(err, errReal) || errors.Is(err, errDeleted) {
			return nil
		}
		return err
	}) {
		if ctx.Err() != nil {
			return
		}
	}
	if err != nil {
		k.env.Log.Warn("node is not simulated", "node", k.name, "err", err)
		return
	}
	k.mu.Lock()
	k.mu.registered = true
	k.beat()
	k.mu.Unlock()
	revision, first := "", true
	for ctx.Err() == nil {
		var w *client.Watch[*corev1.Pod]
		if revision == "" && !k.join(ctx, func(ctx context.Context) (err error) {
			w, revision, err = k.list(ctx)
			return err
		}) {
			continue
		}
		if first {
			first = false
			k.hasJoined()
		}
		began := time.Now()
		err := k.follow(ctx, w, &revision)
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			revision = ""
		} else if ctx.Err() == nil && (!errors.Is(err, io.EOF) || time.Since(began) < time.Second) {
			k.env.Log.Debug("watch of a node's pods ended", "node", k.name, "err", err)
			pause(ctx, time.Second)
		}
	}
}

// join runs do with bounded concurrency, since many nodes start at the same time. After a failure it pauses.
func (k *kubelet) join(ctx context.Context, do func(context.Context) error) bool {
	select {
	case k.joining <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	err := do(ctx)
	<-k.joining
	if err == nil {
		return true
	}
	if ctx.Err() == nil {
		k.env.Log.Warn("node cannot join yet", "node", k.name, "err", err)
		pause(ctx, time.Second)
	}
	return false
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// follow reads a watch until it ends, and returns why; revision advances with it. A watch that is nil is opened at that
// revision.
func (k *kubelet) follow(ctx context.Context, w *client.Watch[*corev1.Pod], revision *string) (err error) {
	if w == nil {
		if w, err = k.pods.Watch(ctx, k.selection(*revision)); err != nil {
			return err
		}
	}
	defer w.Stop()
	w.SkipKnown(k.knows)
	for {
		ev, err := w.Next(ctx)
		if err != nil {
			return err
		}
		*revision = ev.Object.ResourceVersion
		news := false
		switch ev.Type {
		case watch.Added, watch.Modified:
			news = ev.Object.Spec.NodeName != "" && k.seen(ev.Object) // otherwise this version is known
		case watch.Deleted:
			k.forget(ev.Object.UID)
		default:
			continue
		}
		read, decoded := w.Stamps()
		k.arrived(ev.Object, w.Opened(), read, decoded)
		if news {
			k.work.Add(podKey{k, ev.Object.UID})
		}
	}
}

// knows reports whether a version of a pod is the node's own latest write.
func (k *kubelet) knows(uid types.UID, revision string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	p := k.mu.pods[uid]
	return p != nil && p.latest.ResourceVersion == revision
}

// seen stores a version of a pod. It reports whether it is new: neither the result of the node's latest write nor
// older.
func (k *kubelet) seen(latest *corev1.Pod) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	p := k.mu.pods[latest.UID]
	if p == nil {
		p = &pod{}
		k.mu.pods[latest.UID] = p
	} else if !isNewer(latest, p.latest) {
		if latest.ResourceVersion == p.latest.ResourceVersion {
			p.latest = latest // which other readers of the process may share
		}
		return false
	} else if p.latest.Annotations[RunForAnnotation] != latest.Annotations[RunForAnnotation] {
		p.ends = time.Time{}
	}
	p.become(latest)
	if p.plays = k.options.Definitions.Plays(latest); p.plays && !k.mu.supervised {
		k.watchUsage()
	}
	k.mu.images.Add(latest)
	ended := lifecycle.IsOver(&latest.Status)
	if ended {
		k.objects.Release(&p.objects, latest)
		k.podEnded(latest.UID)
	}
	if ended && p.ip.IsValid() {
		k.mu.ips.Free(p.ip) // the status keeps it
		p.ip = netip.Addr{}
	}
	if ip, err := netip.ParseAddr(latest.Status.PodIP); err == nil && !ended && !p.ip.IsValid() && !latest.Spec.HostNetwork {
		p.ip = k.mu.ips.Four(ip)
		k.mu.ips.Reserve(p.ip)
	}
	return true
}

// isNewer reports whether a version of a pod may be later than another. If the server's versions are not numbers,
// every other version may be.
func isNewer(a, b *corev1.Pod) bool {
	order, err := resourceversion.CompareResourceVersion(a.ResourceVersion, b.ResourceVersion)
	return err != nil && a.ResourceVersion != b.ResourceVersion || order > 0
}

// forget drops a pod that has been removed.
func (k *kubelet) forget(uid types.UID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p := k.mu.pods[uid]; p != nil {
		delete(k.mu.pods, uid)
		k.objects.Release(&p.objects, p.latest)
		k.podEnded(uid)
		p.news()
		k.mu.ips.Free(p.ip)
		k.endWithLastPod()
	}
}
