package node

import (
	corev1 "k8s.io/api/core/v1"

	api "fairlead.dev/node/kubelet"
)

// never is the channel of who waits for a pod that no node has.
var never = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// Kubelet serves the API of the nodes' kubelets.
func (ns *Nodes) Kubelet() *api.Server { return ns.served }

// Pod is a pod of one of the nodes as its node knows it, which is never behind a status that
// others have seen; see kubelet.Pods.
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

// PodAt is the pod that has an address, nil if none has.
func (ns *Nodes) PodAt(ip string) (found *corev1.Pod) {
	ns.each(func(p *pod) bool {
		if v := p.view(); v.Status.PodIP == ip && !v.Spec.HostNetwork && p.ip.IsValid() {
			found = v
		}
		return found == nil
	})
	return found
}

// All are the latest versions of the pods of all nodes.
func (ns *Nodes) All() (all []*corev1.Pod) {
	ns.each(func(p *pod) bool {
		all = append(all, p.view())
		return true
	})
	return all
}

// each calls f with all pods within reach until it says no, with the lock of their node held.
func (ns *Nodes) each(f func(*pod) bool) {
	all := ns.all.Load()
	if all == nil {
		return
	}
	for _, k := range *all {
		if !k.each(f) {
			return
		}
	}
}

func (k *kubelet) each(f func(*pod) bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.mu.dark {
		return true
	}
	for _, p := range k.mu.pods {
		if !f(p) {
			return false
		}
	}
	return true
}

// view is the pod as its node knows it. The node's lock is held; so below.
func (p *pod) view() *corev1.Pod {
	if p.decided != nil {
		return p.decided
	}
	return p.latest
}

// become takes in a version that the server has.
func (p *pod) become(latest *corev1.Pod) {
	p.latest, p.decided = latest, nil
	p.news()
}

// news wakes who waits for a newer version of the pod.
func (p *pod) news() {
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}
