package node

import (
	"context"
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	api "fairlead.dev/internal/node/kubelet"
	"fairlead.dev/internal/node/lifecycle"
	"fairlead.dev/internal/node/objectcache"
)

// never is the channel of changes of a pod that no node has.
var never = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// Kubelet serves the API of the nodes' kubelets.
func (ns *Nodes) Kubelet() *api.Server { return ns.served }

// Pod implements kubelet.Pods. It returns the pod as its node knows it, which is never behind a status that others
// have seen.
func (ns *Nodes) Pod(namespace, name string) (*corev1.Pod, <-chan struct{}) {
	var found *corev1.Pod
	var changed <-chan struct{} = never
	ns.each(func(p *pod) bool {
		if p.latest.Namespace != namespace || p.latest.Name != name {
			return true
		}
		if p.changed == nil {
			p.changed = make(chan struct{})
		}
		found, changed = p.view(), p.changed
		return false
	})
	return found, changed
}

// PodAt implements kubelet.Pods.
func (ns *Nodes) PodAt(ip string) (found *corev1.Pod) {
	ns.each(func(p *pod) bool {
		v := p.view()
		has := func(own corev1.PodIP) bool { return own.IP == ip }
		if !v.Spec.HostNetwork && p.ip.IsValid() && slices.ContainsFunc(v.Status.PodIPs, has) {
			found = v
		}
		return found == nil
	})
	return found
}

// On implements kubelet.Pods.
func (ns *Nodes) On(node string) (all []*corev1.Pod) {
	add := func(p *pod) bool {
		all = append(all, p.view())
		return true
	}
	if node == "" {
		ns.each(add)
	} else if k := ns.roster.named(node); k != nil {
		k.each(add)
	}
	return all
}

// Probes implements kubelet.Pods.
func (ns *Nodes) Probes(node string, at time.Time, each func(pod *corev1.Pod, container, kind string, passed, failed int)) {
	k := ns.roster.named(node)
	if k == nil {
		return
	}
	counts := map[*corev1.Pod][]lifecycle.ProbeCount{}
	k.each(func(p *pod) bool {
		counts[p.view()] = ns.builtIn.Probes(p.view(), p.probing, at)
		return true
	})
	for pod, all := range counts {
		for _, c := range all {
			each(pod, c.Container, c.Kind, c.Passed, c.Failed)
		}
	}
}

// NodeAt implements kubelet.Pods.
func (ns *Nodes) NodeAt(ip string) string {
	all := ns.roster.all()
	for _, k := range all {
		if len(all) == 1 || slices.Contains(k.host.Strings(), ip) {
			return k.name
		}
	}
	return ""
}

// Env implements kubelet.Pods.
func (ns *Nodes) Env(pod *corev1.Pod, c *corev1.Container) []corev1.EnvVar {
	k := ns.roster.named(pod.Spec.NodeName)
	if k == nil {
		return nil
	}
	var none objectcache.Use
	use := &none
	if p := k.pod(pod.UID); p != nil {
		use = &p.objects
	}
	return k.objects.Env(use, pod, c)
}

// Node implements kubelet.Pods.
func (ns *Nodes) Node(ctx context.Context, name string) (*corev1.Node, error) {
	k := ns.roster.named(name)
	if k == nil {
		return nil, errors.New("is not one of those that are simulated here")
	}
	if k.inOutage() {
		return nil, errors.New("is out of reach")
	}
	return ns.nodes.Get(ctx, name)
}

// each calls f with all pods that are not in an outage until it returns false. The lock of the pod's node is held.
func (ns *Nodes) each(f func(*pod) bool) {
	for _, k := range ns.roster.all() {
		if !k.each(f) {
			return
		}
	}
}

func (k *kubelet) each(f func(*pod) bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.mu.outage {
		return true
	}
	for _, p := range k.mu.pods {
		if !f(p) {
			return false
		}
	}
	return true
}
