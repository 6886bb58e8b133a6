package node

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
)

// OutageAnnotation of a Node makes it go dark as long as it is "true": no lease is renewed,
// no status written, no log answered, and its pods stay as they are.
const OutageAnnotation = "fairlead.dev/outage"

// followNodes tells the nodes what their Nodes look like. One watch does for all.
func (ns *Nodes) followNodes(ctx context.Context) {
	byName := map[string]*kubelet{}
	for _, k := range *ns.all.Load() {
		byName[k.name] = k
	}
	revision := ""
	for ctx.Err() == nil {
		began := time.Now()
		err := ns.readNodes(ctx, &revision, func(n *corev1.Node) {
			if k := byName[n.Name]; k != nil {
				k.observe(n)
			}
		})
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			revision = ""
		} else if ctx.Err() == nil && (!errors.Is(err, io.EOF) || time.Since(began) < time.Second) {
			ns.env.Log.Debug("watch of the nodes ended", "err", err)
			pause(ctx, time.Second)
		}
	}
}

// readNodes reads the list and the watch until it ends, and says why; revision moves with it.
func (ns *Nodes) readNodes(ctx context.Context, revision *string, seen func(*corev1.Node)) error {
	if *revision == "" {
		list, err := ns.nodes.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, n := range list.Items {
			seen(n)
		}
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
		if ev.Type == watch.Added || ev.Type == watch.Modified {
			seen(ev.Object)
		}
	}
}

// observe takes in a version of the node's own object, from the watch or as it was written.
func (k *kubelet) observe(n *corev1.Node) {
	dark, _ := strconv.ParseBool(n.Annotations[OutageAnnotation])
	k.mu.Lock()
	defer k.mu.Unlock()
	if last := k.mu.revision; last != "" {
		if order, err := resourceversion.CompareResourceVersion(n.ResourceVersion, last); err == nil && order < 0 {
			return
		}
	}
	if !dark {
		k.tellSchedulable(n, k.mu.cordoned)
		k.mu.cordoned = n.Spec.Unschedulable
	}
	k.mu.revision, k.mu.taints = n.ResourceVersion, expelling(n)
	if k.stagesNodes() {
		k.mu.node = n
		k.turns.Add(k)
	}
	if k.lacksDevices(n) && !k.mu.devices {
		k.mu.devices = true
		k.beats.Add(k)
	}
	back := k.mu.dark && !dark
	if k.mu.dark != dark {
		k.mu.dark = dark
		k.env.Log.Info("node", "node", k.name, "dark", dark)
		for _, p := range k.mu.pods {
			p.news()
		}
	}
	if back {
		k.beats.Add(k)
		for uid := range k.mu.pods {
			k.work.Add(podKey{k, uid})
		}
	}
}

// isDark says whether there is an outage.
func (k *kubelet) isDark() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.mu.dark
}
