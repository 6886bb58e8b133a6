package dynamicresources

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/devices"
)

// extendedResources returns the extended resources of a pod that a class offers, sorted.
func extendedResources(c *cache.Cluster, p *cache.PodInfo) (names []corev1.ResourceName) {
	for name, n := range p.Requests.Other {
		if n > 0 && cache.DevicesOf(c).ClassOf(name) != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// A variant is the claim for extended resources on the nodes that have the same of them as devices.
type variant struct {
	claim   *resourcev1.ResourceClaim
	uses    []corev1.ContainerExtendedResourceRequest
	request *devices.Request // for the pending claims and then this one
}

// variantOn returns the claim for the extended resources that a node has as devices; or nil.
func (a *attempt) variantOn(n *cache.NodeInfo) *variant {
	if len(a.extended) == 0 {
		return nil
	}
	var key strings.Builder
	var names []corev1.ResourceName
	for _, name := range a.extended {
		if n.HasAsDevices(name) {
			names = append(names, name)
			key.WriteString(string(name) + " ")
		}
	}
	if v := a.variants[key.String()]; v != nil {
		return v
	}
	v := &variant{}
	claims := a.pending
	if len(names) > 0 {
		v.claim = &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: a.pod.Namespace, Name: "<extended-resources>"}}
		v.claim.Spec.Devices.Requests, v.uses = a.devices.ExtendedRequests(a.pod, names)
		claims = append(slices.Clip(claims), v.claim)
	}
	if len(claims) > 0 {
		v.request = a.devices.Ask(claims, a.plugin.FilterTimeout)
	}
	a.variants[key.String()] = v
	return v
}
