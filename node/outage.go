package node

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"fairlead.dev/internal/node/admission"
)

// OutageAnnotation of a Node simulates an outage as long as it is "true": the node renews no lease and writes no
// status, its pods answer no requests and stay as they are.
const OutageAnnotation = "fairlead.dev/outage"

// beat makes the next heartbeat due now, unless the node is still joining: the first one follows that. mu is held.
func (k *kubelet) beat() {
	if k.mu.registered {
		k.heartbeats.Add(k)
	}
}

// observe stores a version of the node's own object, from the watch or from a write.
func (k *kubelet) observe(n *corev1.Node) {
	dark, _ := strconv.ParseBool(n.Annotations[OutageAnnotation])
	shut, _ := strconv.ParseBool(n.Annotations[ShutdownAnnotation])
	k.mu.Lock()
	defer k.mu.Unlock()
	if last := k.mu.revision; last != "" {
		if order, err := resourceversion.CompareResourceVersion(n.ResourceVersion, last); err == nil && order < 0 {
			return
		}
	}
	k.configure(n)
	k.askShutdown(n, shut)
	dark = dark || k.mu.shutdown.off
	if !dark {
		k.recordSchedulable(n, k.mu.cordoned)
		k.mu.cordoned = n.Spec.Unschedulable
	}
	k.mu.revision, k.mu.taints, k.mu.uid = n.ResourceVersion, admission.NoExecuteTaints(n), n.UID
	if k.stagesNodes() {
		k.mu.node = n
		k.stageQueue.Add(k)
	}
	if k.lacksDevices(n) && !k.mu.devices {
		k.mu.devices = true
		k.beat()
	}
	k.setOutage(dark)
}

// setOutage begins or ends an outage. mu is held.
func (k *kubelet) setOutage(dark bool) {
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
		k.watchUsage()
		for uid := range k.mu.pods {
			k.work.Add(podKey{k, uid})
		}
	}
}

// configure takes over the settings of a Node. mu is held.
func (k *kubelet) configure(n *corev1.Node) {
	s := &k.mu.settings
	usage := s.usage
	changed, err := s.read(n.Annotations)
	if err != nil {
		k.env.Log.Warn("an annotation of a node has no effect", "node", k.name, "err", err)
		k.recordAbout(n, corev1.EventTypeWarning, "InvalidAnnotation", err.Error())
	}
	if s.usage != usage {
		k.watchUsage()
	}
	if changed && k.mu.registered {
		k.mu.news = true
		k.beat()
	}
}
