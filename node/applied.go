package node

import (
	"cmp"
	"context"
	"maps"
	"net/netip"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/node/addresses"
	"fairlead.dev/internal/nodekind"
)

// adopts reports whether a Node that appears is to be simulated here: one that is marked as simulated, and has a name of
// these nodes or any name with Options.Adopt.
func (ns *Nodes) adopts(n *corev1.Node) bool {
	return nodekind.IsSimulated(n) && (ns.options.Adopt || ns.ownIndex(n.Name) >= 0)
}

// ownIndex returns the index, from 0, of a name of the Options.Count nodes; -1 for any other name.
func (ns *Nodes) ownIndex(name string) int {
	if i := ns.numbered(name); i < ns.options.Count {
		return i
	}
	return -1
}

// numbered returns the index, from 0, that the number in a name stands for; -1 for a name without Options.NamePrefix and a
// number.
func (ns *Nodes) numbered(name string) int {
	digits, ok := strings.CutPrefix(name, ns.options.NamePrefix)
	i, err := strconv.Atoi(digits)
	if !ok || err != nil || i < 1 || strconv.Itoa(i) != digits {
		return -1
	}
	return i - 1
}

// applied returns the kubelet of a Node that exists. Its capacity, allocatable resources and nodeInfo take precedence over
// Options.
func (ns *Nodes) applied(n *corev1.Node) (*kubelet, error) {
	given, capacity := ns.given(n)
	least := ns.options.Capacity.Pods().Value()
	slots := addresses.Slots(capacity.Pods().Value(), least)
	index := ns.roster.reserve(ns.formerIndex(n, slots), ns.options.Count, slots)
	cidr, err := addresses.PodRange(ns.options.PodCIDR, index, least, slots)
	if err != nil {
		return nil, err
	}
	// An address of the nodes' own range would have to be declared first; this one is of the declared range of pods.
	ip, err := addresses.Offset(cidr, 1)
	if err != nil {
		return nil, err
	}
	if i := ns.ownIndex(n.Name); i >= 0 {
		if ip, err = ns.options.address(i); err != nil {
			return nil, err
		}
	}
	k := ns.newKubelet(n.Name, index, slots, ip, cidr, given, capacity)
	k.existed = true
	return k, nil
}

// given returns the template and the capacity of a Node that exists.
func (ns *Nodes) given(n *corev1.Node) (*corev1.Node, corev1.ResourceList) {
	t := &corev1.Node{}
	if ns.options.Template != nil {
		t = ns.options.Template.DeepCopy()
	}
	capacity := maps.Clone(ns.options.Capacity)
	maps.Copy(capacity, n.Status.Allocatable) // without a capacity all of it is
	maps.Copy(capacity, n.Status.Capacity)
	for name := range n.Status.Capacity {
		delete(t.Status.Allocatable, name)
	}
	if t.Status.Allocatable == nil {
		t.Status.Allocatable = corev1.ResourceList{}
	}
	maps.Copy(t.Status.Allocatable, n.Status.Allocatable)
	ontoNodeInfo(&t.Status.NodeInfo, &n.Status.NodeInfo)
	if n.Status.DeclaredFeatures != nil {
		t.Status.DeclaredFeatures = n.Status.DeclaredFeatures
	}
	for _, name := range []string{KubeletConfigAnnotation, MachineAnnotation, SystemUsageAnnotation} {
		if value, ok := n.Annotations[name]; ok {
			metav1.SetMetaDataAnnotation(&t.ObjectMeta, name, value)
		}
	}
	return t, capacity
}

// formerIndex returns the index that a Node had before a restart, or that its name asks for; -1 without one.
func (ns *Nodes) formerIndex(n *corev1.Node, slots int) int {
	for _, a := range n.Status.Addresses {
		ip, err := netip.ParseAddr(a.Address)
		if err != nil || a.Type != corev1.NodeInternalIP {
			continue
		}
		if i := addresses.Slot(ns.options.PodCIDR, ip, ns.options.Capacity.Pods().Value()); i >= 0 && i%slots == 0 {
			return i
		}
	}
	return ns.numbered(n.Name)
}

// Preview returns a Node as it will be when it has been created and is simulated: with the labels, the taints, the capacity and
// the allocatable resources that its kubelet adds. It is ready and has no addresses. It may be called once Joined is closed.
func (ns *Nodes) Preview(n *corev1.Node) *corev1.Node {
	given, capacity := ns.given(n)
	k := ns.newKubelet(n.Name, 0, 1, ns.options.NodeCIDR.Addr(), ns.options.PodCIDR, given, capacity)
	full := k.node(time.Now())
	n = n.DeepCopy()
	n.Labels = overlay(full.Labels, n.Labels)
	n.Annotations = overlay(full.Annotations, n.Annotations)
	n.Spec.Taints = append(n.Spec.Taints, missingTaints(n, full)...)
	n.Status = full.Status
	n.Status.Addresses = nil
	return n
}

// complete adds the metadata of a simulated node to a Node that was created without it. Values that the Node has stay.
func (k *kubelet) complete(ctx context.Context, n *corev1.Node) (*corev1.Node, error) {
	full := k.node(time.Now())
	spec := map[string]any{}
	if n.Spec.PodCIDR == "" {
		spec["podCIDR"], spec["podCIDRs"] = full.Spec.PodCIDR, full.Spec.PodCIDRs
	}
	if missing := missingTaints(n, full); len(missing) > 0 {
		spec["taints"] = append(append([]corev1.Taint{}, n.Spec.Taints...), missing...)
	}
	return k.nodes.Patch(ctx, k.name, client.MergePatch(map[string]any{
		"metadata": map[string]any{"uid": n.UID, "resourceVersion": n.ResourceVersion, "labels": overlay(full.Labels, n.Labels), "annotations": overlay(full.Annotations, n.Annotations)},
		"spec":     spec,
	}))
}

// missingTaints returns the taints that a Node lacks.
func missingTaints(n, full *corev1.Node) (missing []corev1.Taint) {
next:
	for _, t := range full.Spec.Taints {
		for _, has := range n.Spec.Taints {
			if has.MatchTaint(&t) {
				continue next
			}
		}
		missing = append(missing, t)
	}
	return missing
}

// overlay returns the values of under, with those of over that are not empty in their place or added.
func overlay(under, over map[string]string) map[string]string {
	all := map[string]string{}
	for _, m := range []map[string]string{under, over} {
		for name, value := range m {
			all[name] = cmp.Or(value, all[name])
		}
	}
	return all
}
