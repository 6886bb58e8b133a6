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
	k.mu.revision, k.mu.taints, k.mu.uid = n.ResourceVersion, admission.NoExecuteTaints(n), n.UID
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
