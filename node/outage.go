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

	"fairlead.dev/internal/node/admission"
	"fairlead.dev/internal/nodekind"
)

// OutageAnnotation of a Node simulates an outage as long as it is "true": the node renews no lease and writes no
// status, its pods answer no requests and stay as they are.
const OutageAnnotation = "fairlead.dev/outage"

// followNodes passes each Node to its kubelet. All nodes share one watch.
func (ns *Nodes) followNodes(ctx context.Context) {
	byName := map[string]*kubelet{}
	for _, k := range *ns.all.Load() {
		byName[k.name] = k
	}
	revision := ""
	for ctx.Err() == nil {
		began := time.Now()
		err := ns.readNodes(ctx, &revision, func(n *corev1.Node) {
			if k := byName[n.Name]; k != nil && nodekind.IsSimulated(n) {
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

// readNodes reads the list and the watch until it ends, and returns why; revision advances with it.
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

// beat makes the next heartbeat due now, unless the node is still joining: the first one follows that. mu is held.
func (k *kubelet) beat() {
	if k.mu.registered {
		k.heartbeats.Add(k)
	}
}

// observe stores a version of the node's own object, from the watch or from a write.
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
		k.recordSchedulable(n, k.mu.cordoned)
		k.mu.cordoned = n.Spec.Unschedulable
	}
	k.mu.revision, k.mu.taints = n.ResourceVersion, admission.NoExecuteTaints(n)
	if k.stagesNodes() {
		k.mu.node = n
		k.stageQueue.Add(k)
	}
	if k.lacksDevices(n) && !k.mu.devices {
		k.mu.devices = true
		k.beat()
	}
	back := k.mu.outage && !dark
	if k.mu.outage != dark {
		k.mu.outage = dark
		k.env.Log.Info("node", "node", k.name, "dark", dark)
		for _, p := range k.mu.pods {
			p.news()
		}
	}
	if dark && k.options.RareHeartbeats {
		k.beat()
	}
	if back {
		k.beat()
		for uid := range k.mu.pods {
			k.work.Add(podKey{k, uid})
		}
	}
}
