package nodelifecycle

import (
	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/nodekind"
	"fairlead.dev/internal/versionskew"
)

// checkVersion records an event if a node's kubelet reports another version than before, and the control plane does not
// support it.
func (c *lifecycle) checkVersion(n *corev1.Node, before string) {
	v := n.Status.NodeInfo.KubeletVersion
	if c.o.Version == "" || v == "" || v == before || nodekind.IsSimulated(n) {
		return
	}
	if err := versionskew.CheckKubelet(v, c.o.Version); err != nil {
		c.rec.Event(n, corev1.EventTypeWarning, "VersionSkew", "Kubernetes does not support this kubelet: %v", err)
	}
}
