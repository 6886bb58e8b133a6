package core

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

var nodeTable = resource.TableOf(nodeRow,
	resource.NameColumn,
	resource.Text("Status", "Whether the node is ready and takes pods."),
	resource.Text("Roles", "What the node is for."),
	resource.AgeColumn,
	resource.Text("Version", "The kubelet's version."),
	resource.WideOnly(resource.Text("Internal-IP", "The node's address within the cluster.")),
	resource.WideOnly(resource.Text("External-IP", "The node's address for the outside.")),
	resource.WideOnly(resource.Text("OS-Image", "The operating system.")),
	resource.WideOnly(resource.Text("Kernel-Version", "The kernel's version and the processor's architecture.")),
	resource.WideOnly(resource.Text("Container-Runtime", "What runs the containers.")),
)

func nodeRow(n *corev1.Node) []any {
	info := n.Status.NodeInfo
	kernel := cmp.Or(info.KernelVersion, resource.Unknown)
	if info.Architecture != "" {
		kernel += " (" + info.Architecture + ")"
	}
	return []any{
		n.Name,
		nodeStatus(n),
		cmp.Or(nodeRoles(n), resource.None),
		resource.AgeOf(n),
		info.KubeletVersion,
		nodeAddress(n, corev1.NodeInternalIP),
		nodeAddress(n, corev1.NodeExternalIP),
		cmp.Or(info.OSImage, resource.Unknown),
		kernel,
		cmp.Or(info.ContainerRuntimeVersion, resource.Unknown),
	}
}

func nodeStatus(n *corev1.Node) string {
	status := "Unknown"
	for _, c := range n.Status.Conditions {
		if c.Type != corev1.NodeReady {
			continue
		}
		status = "NotReady"
		if c.Status == corev1.ConditionTrue {
			status = "Ready"
		}
	}
	if n.Spec.Unschedulable {
		status += ",SchedulingDisabled"
	}
	return status
}

func nodeRoles(n *corev1.Node) string {
	var roles []string
	for key, value := range n.Labels {
		if role, ok := strings.CutPrefix(key, "node-role.kubernetes.io/"); ok && role != "" {
			roles = append(roles, role)
		} else if key == "kubernetes.io/role" && value != "" {
			roles = append(roles, value)
		}
	}
	return resource.JoinSorted(roles)
}

func nodeAddress(n *corev1.Node, t corev1.NodeAddressType) string {
	for _, a := range n.Status.Addresses {
		if a.Type == t {
			return a.Address
		}
	}
	return resource.None
}

func nodeStrategy() resource.Strategy {
	r := resource.SpecAndStatus(func(n *corev1.Node) (*corev1.NodeSpec, *corev1.NodeStatus) { return &n.Spec, &n.Status })
	r.Default = defaultNode
	// Kubelets register their nodes complete with status.
	//lint:ignore SA1019 it is dropped because it is no more
	r.PrepareForCreate = func(n *corev1.Node) { n.Spec.ConfigSource, n.Status.Config = nil, nil }
	r.Warnings = nodeWarnings
	r.Validate = validateNode
	r.ValidateUpdate = validateNodeUpdate
	r.ValidateStatusUpdate = validateNodeUpdate
	return r.Strategy()
}

func defaultNode(n *corev1.Node) {
	s := &n.Status
	if s.Allocatable == nil && s.Capacity != nil {
		s.Allocatable = s.Capacity.DeepCopy()
	}
	podspec.RoundUp(s.Capacity)
	podspec.RoundUp(s.Allocatable)
	// The first pod CIDR is in two fields; the older one wins.
	if c := n.Spec.PodCIDR; c != "" && (len(n.Spec.PodCIDRs) == 0 || n.Spec.PodCIDRs[0] != c) {
		n.Spec.PodCIDRs = []string{c}
	} else if len(n.Spec.PodCIDRs) > 0 {
		n.Spec.PodCIDR = n.Spec.PodCIDRs[0]
	}
}

func nodeWarnings(n *corev1.Node) (list []string) {
	//lint:ignore SA1019 whoever sets it is told
	if n.Spec.ConfigSource != nil {
		list = append(list, "spec.configSource: the feature is removed")
	}
	if n.Spec.DoNotUseExternalID != "" {
		list = append(list, "spec.externalID: this field is deprecated, and is unused by Kubernetes")
	}
	for i, c := range n.Spec.PodCIDRs {
		list = append(list, validation.GetWarningsForCIDR(check.At("spec", "podCIDRs").Index(i).Field(), c)...)
	}
	return list
}
