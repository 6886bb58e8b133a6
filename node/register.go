package node

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/client"
	"fairlead.dev/internal/codec"
	"fairlead.dev/internal/node/addresses"
	"fairlead.dev/internal/nodekind"
)

// register creates the Node or takes over the one that exists.
func (k *kubelet) register(ctx context.Context) error {
	fresh := k.node(time.Now())
	byStages, err := k.staged(fresh)
	if err != nil {
		return err
	}
	if byStages {
		fresh.Status.Conditions, fresh.Status.Phase = nil, ""
	}
	node, err := k.takeOver(ctx)
	anew := apierrors.IsNotFound(err) && !k.existed
	if anew {
		node, err = k.nodes.Create(ctx, fresh)
	}
	if err != nil {
		return err
	}
	if err := k.publishDevices(ctx, node); err != nil {
		return err
	}
	k.recordStarting(node, anew)
	k.heartbeat.uid = node.UID
	k.heartbeat.reported = reportedAt(node)
	return k.keepRanges(ctx, node)
}

// keepRanges takes over the ranges of pod addresses of a Node. One without a range of a family has that of the options.
func (k *kubelet) keepRanges(ctx context.Context, node *corev1.Node) error {
	k.mu.Lock()
	own, ownSix := k.mu.ips.Ranges()
	k.mu.Unlock()
	four, six := own, ownSix
	var foreign []string
	for _, text := range node.Spec.PodCIDRs {
		cidr, err := netip.ParsePrefix(text)
		if err != nil {
			continue // validation has let it pass
		}
		cidr = cidr.Masked()
		if !k.options.Simulates(cidr.Addr()) {
			foreign = append(foreign, text)
		}
		if cidr.Addr().Is4() {
			four = cidr
		} else if k.options.families().HaveIPv6() {
			six = cidr
		}
	}
	if len(foreign) > 0 {
		if err := k.declareAs(ctx, k.name, strings.Join(foreign, " ")); err != nil {
			return err
		}
	}
	if four != own || six != ownSix {
		k.mu.Lock()
		k.mu.ips = addresses.New(four, six)
		k.mu.Unlock()
	}
	return nil
}

// podCIDRs returns the node's ranges of pod addresses, that of the primary family first.
func (k *kubelet) podCIDRs() (all []string) {
	four, six := k.mu.ips.Ranges()
	for _, family := range k.options.Families {
		if family == corev1.IPv6Protocol {
			all = append(all, six.String())
		} else {
			all = append(all, four.String())
		}
	}
	return all
}

// errReal is the error of a Node that a kubelet has registered, and that must not be simulated.
var errReal = errors.New("it is a real node, of a kubelet")

// errDeleted is the error of a Node that was deleted before it was simulated.
var errDeleted = errors.New("it was deleted")

// takeOver takes over the Node that exists, and writes its status if that differs. One without conditions, which has not been
// simulated yet, is completed and marked as simulated, unless a kubelet has reported for it.
func (k *kubelet) takeOver(ctx context.Context) (*corev1.Node, error) {
	for {
		node, err := k.nodes.Get(ctx, k.name)
		switch {
		case k.existed && apierrors.IsNotFound(err):
			return nil, errDeleted
		case err != nil:
			return nil, err
		case !nodekind.IsSimulated(node) && node.Status.NodeInfo.KubeletVersion != "":
			return nil, errReal
		case !nodekind.IsSimulated(node) || len(node.Status.Conditions) == 0:
			// Controllers write to a new Node at the same time.
			if node, err = k.complete(ctx, node); apierrors.IsConflict(err) {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		k.mu.Lock()
		k.mu.images.Restore(node.Status.Images)
		k.mu.Unlock()
		status, err := k.nextStatus(node)
		if err != nil {
			return nil, err
		}
		if hasStatus(node, status) {
			return node, nil // the first heartbeat reports it if that is due
		}
		return k.writeStatus(ctx, node, status)
	}
}

// nextStatus returns the status of the simulated machine for a Node that exists, with addresses of other types that the Node has.
func (k *kubelet) nextStatus(node *corev1.Node) (*corev1.NodeStatus, error) {
	status := k.status(time.Now())
	maps.Copy(status.Allocatable, k.devices(node))
	if len(k.options.Definitions.Stages("Node")) > 0 {
		// Conditions that stages have set stay. Unknown is of the node lifecycle controller.
		byStages, err := k.staged(node)
		if err != nil {
			return nil, err
		}
		status.Conditions = slices.DeleteFunc(status.Conditions, func(c corev1.NodeCondition) bool {
			return byStages || slices.ContainsFunc(node.Status.Conditions, func(old corev1.NodeCondition) bool {
				return old.Type == c.Type && old.Status != corev1.ConditionUnknown && !isOwnCondition(&old)
			})
		})
		if byStages {
			status.Phase = node.Status.Phase
		}
	}
	for i := range status.Conditions {
		for _, old := range node.Status.Conditions {
			if c := &status.Conditions[i]; old.Type == c.Type && old.Status == c.Status {
				c.LastTransitionTime = old.LastTransitionTime
			}
		}
	}
	for _, a := range node.Status.Addresses {
		if !slices.ContainsFunc(status.Addresses, func(own corev1.NodeAddress) bool { return own.Type == a.Type }) {
			status.Addresses = append(status.Addresses, a)
		}
	}
	return &status, nil
}

// hasStatus reports whether a Node has a status already, but for the times of its conditions' heartbeats.
func hasStatus(n *corev1.Node, status *corev1.NodeStatus) bool {
	next := n.Status
	if next.Capacity == nil || next.Allocatable == nil || !slices.Equal(next.DeclaredFeatures, status.DeclaredFeatures) {
		return false
	}
	next.Capacity, next.Allocatable = maps.Clone(next.Capacity), maps.Clone(next.Allocatable)
	maps.Copy(next.Capacity, status.Capacity)
	maps.Copy(next.Allocatable, status.Allocatable)
	next.Phase, next.Images = cmp.Or(status.Phase, next.Phase), status.Images
	next.Addresses, next.DaemonEndpoints, next.NodeInfo = status.Addresses, status.DaemonEndpoints, status.NodeInfo
	next.Conditions = slices.Clone(next.Conditions)
	for _, c := range status.Conditions {
		i := slices.IndexFunc(next.Conditions, func(has corev1.NodeCondition) bool { return has.Type == c.Type })
		if i < 0 {
			return false
		}
		c.LastHeartbeatTime = next.Conditions[i].LastHeartbeatTime
		next.Conditions[i] = c
	}
	return codec.Equal(&n.Status, &next)
}

// reportedAt returns when the kubelet of a Node last reported its conditions; now without any.
func reportedAt(n *corev1.Node) time.Time {
	at := time.Now()
	for i := range n.Status.Conditions {
		if c := &n.Status.Conditions[i]; isOwnCondition(c) && c.LastHeartbeatTime.Time.Before(at) {
			at = c.LastHeartbeatTime.Time
		}
	}
	return at
}

// writeStatus brings a Node's status up to date.
func (k *kubelet) writeStatus(ctx context.Context, node *corev1.Node, status *corev1.NodeStatus) (*corev1.Node, error) {
	patch, err := kruntime.DefaultUnstructuredConverter.ToUnstructured(status)
	if err != nil {
		return nil, err
	}
	// The list is replaced, since its merge key is the type, of which a dual-stack node has two; kubelets do the same.
	patch["addresses"] = append(patch["addresses"].([]any), map[string]any{"$patch": "replace"})
	if len(status.DeclaredFeatures) == 0 && len(node.Status.DeclaredFeatures) > 0 {
		patch["declaredFeatures"] = nil
	}
	next, err := k.nodes.Patch(ctx, k.name, client.StrategicPatch(map[string]any{"metadata": map[string]any{"uid": node.UID}, "status": patch}).On("status"))
	if err == nil {
		k.recordConditions(next, node.Status.Conditions)
		k.recordReboot(next, node.Status.NodeInfo.BootID)
	}
	return next, err
}

// devices returns the resources that others have added to a Node's capacity, as device plugins do. All of their
// capacity becomes allocatable.
func (k *kubelet) devices(n *corev1.Node) corev1.ResourceList {
	list := corev1.ResourceList{}
	for name, q := range n.Status.Capacity {
		if _, own := k.capacity[name]; !own && strings.Contains(string(name), "/") {
			list[name] = q
		}
	}
	return list
}

// lacksDevices reports whether some of the added capacity is not allocatable yet.
func (k *kubelet) lacksDevices(n *corev1.Node) bool {
	for name, q := range k.devices(n) {
		if has, ok := n.Status.Allocatable[name]; !ok || has.Cmp(q) != 0 {
			return true
		}
	}
	return false
}

// staged reports whether a stage selects a Node that is not initialized yet; stages then set its conditions.
func (k *kubelet) staged(n *corev1.Node) (bool, error) {
	fresh := *n
	fresh.Status.Conditions, fresh.Status.Phase = nil, ""
	return k.options.Definitions.Stages("Node").Select(&fresh)
}

func (k *kubelet) node(now time.Time) *corev1.Node {
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: k.name,
			Labels: map[string]string{
				corev1.LabelHostname:           k.name,
				corev1.LabelOSStable:           "linux",
				corev1.LabelArchStable:         runtime.GOARCH,
				corev1.LabelInstanceTypeStable: "fairlead-simulated",
				"beta.kubernetes.io/os":        "linux",
				"beta.kubernetes.io/arch":      runtime.GOARCH,
			},
			Annotations: map[string]string{nodekind.Simulated: "true"},
		},
		Spec: corev1.NodeSpec{PodCIDRs: k.podCIDRs()},
	}
	n.Spec.PodCIDR = n.Spec.PodCIDRs[0]
	if zones := k.options.Zones; len(zones) > 0 {
		n.Labels[corev1.LabelTopologyZone] = zones[k.index%len(zones)]
	}
	onto(n, k.template)
	maps.Copy(n.Labels, k.options.Labels)
	n.Status = k.status(now)
	return n
}

// port returns the port of the kubelet's API.
func (k *kubelet) port() int32 {
	if e := k.options.Endpoint; e.IsValid() {
		return int32(e.Port())
	}
	return 10250
}

func (k *kubelet) status(now time.Time) corev1.NodeStatus {
	id := fmt.Sprintf("%x", sha256.Sum256([]byte(k.name)))
	k.mu.Lock()
	boot := id
	if k.mu.boots > 0 {
		boot = fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s/%d", k.name, k.mu.boots)))
	}
	capacity, allocatable := k.mu.settings.limits(k.capacity)
	conditions, pulled, configured := k.conditions(now), k.mu.images.Report(), k.mu.settings.config != nil || k.mu.settings.machine != nil
	k.mu.Unlock()
	s := corev1.NodeStatus{
		Capacity:        capacity,
		Allocatable:     allocatable,
		DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: k.port()}},
		NodeInfo: corev1.NodeSystemInfo{
			MachineID:               id[:32],
			SystemUUID:              id[:8] + "-" + id[8:12] + "-" + id[12:16] + "-" + id[16:20] + "-" + id[20:32],
			BootID:                  boot[32:40] + "-" + boot[40:44] + "-" + boot[44:48] + "-" + boot[48:52] + "-" + boot[52:64],
			KernelVersion:           "simulated",
			OSImage:                 "Fairlead simulated node",
			ContainerRuntimeVersion: "fairlead://simulated",
			KubeletVersion:          k.options.KubeletVersion,
			OperatingSystem:         "linux",
			Architecture:            runtime.GOARCH,
		},
		Conditions: conditions,
		Images:     pulled,
	}
	for _, ip := range k.host.Strings() {
		s.Addresses = append(s.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: ip})
	}
	s.Addresses = append(s.Addresses, corev1.NodeAddress{Type: corev1.NodeHostName, Address: k.name})
	if e := k.options.Endpoint; e.IsValid() {
		s.Addresses[0].Address = e.Addr().String()
		s.Addresses = s.Addresses[:1] // a server may prefer host names, which do not resolve
	}
	if len(k.options.Definitions.Stages("Node")) > 0 {
		s.Phase = corev1.NodeRunning // kwok's stages look at it
	}
	ontoStatus(&s, k.template, configured)
	s.DeclaredFeatures = declaredFeatures(s.NodeInfo.KubeletVersion, k.template)
	for _, size := range []corev1.ResourceName{"hugepages-1Gi", "hugepages-2Mi"} {
		if _, given := s.Capacity[size]; !given {
			s.Capacity[size], s.Allocatable[size] = resource.MustParse("0"), resource.MustParse("0")
		}
	}
	return s
}
