//lint:file-ignore SA1019 Endpoints are deprecated, and served

//lint:file-ignore SA1019 Endpoints are deprecated, and served

package endpoints

import (
	"cmp"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/controllers/podcontrol"
	"fairlead.dev/internal/controllers/podcontrol/backends"
)

// capacity is the maximum number of addresses of an Endpoints object.
const capacity = 1000

// build returns the Endpoints of a Service. There are as few subsets as possible: one for each distinct set of
// ports, sorted, so that equal inputs give equal objects.
func build(svc *corev1.Service, pods []*corev1.Pod) *corev1.Endpoints {
	ep := &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{
		Name:      svc.Name,
		Namespace: svc.Namespace,
		Labels:    labelsFor(svc),
	}}
	bySpelling := make(map[string]*corev1.EndpointSubset)
	for _, p := range pods {
		ip := addressOf(svc, p)
		ports := portsOf(svc, p)
		if ip == "" || (len(ports) == 0 && (len(svc.Spec.Ports) > 0 || svc.Spec.ClusterIP != corev1.ClusterIPNone)) {
			continue
		}
		k := spell(ports)
		s := bySpelling[k]
		if s == nil {
			s = &corev1.EndpointSubset{Ports: ports}
			bySpelling[k] = s
		}
		a := address(svc, p, ip)
		if svc.Spec.PublishNotReadyAddresses || podcontrol.IsReady(p) {
			s.Addresses = append(s.Addresses, a)
		} else {
			s.NotReadyAddresses = append(s.NotReadyAddresses, a)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(bySpelling)) {
		s := bySpelling[k]
		slices.SortFunc(s.Addresses, byIP)
		slices.SortFunc(s.NotReadyAddresses, byIP)
		ep.Subsets = append(ep.Subsets, *s)
	}
	if truncate(ep.Subsets) {
		ep.Annotations = map[string]string{corev1.EndpointsOverCapacity: "truncated"}
	}
	return ep
}

func labelsFor(svc *corev1.Service) map[string]string {
	out := make(map[string]string, len(svc.Labels)+2)
	maps.Copy(out, svc.Labels)
	delete(out, corev1.IsHeadlessService)
	if backends.Headless(svc) {
		out[corev1.IsHeadlessService] = ""
	}
	out[managedBy] = manager
	return out
}

// addressOf returns the pod's address in the Service's first family, or "".
func addressOf(svc *corev1.Service, p *corev1.Pod) string {
	want6 := strings.Contains(svc.Spec.ClusterIP, ":") ||
		(backends.Headless(svc) && len(svc.Spec.IPFamilies) > 0 && svc.Spec.IPFamilies[0] == corev1.IPv6Protocol)
	if backends.Headless(svc) && len(svc.Spec.IPFamilies) == 0 {
		return p.Status.PodIP
	}
	for _, s := range p.Status.PodIPs {
		if ip, err := netip.ParseAddr(s.IP); err == nil && ip.Unmap().Is6() == want6 {
			return s.IP
		}
	}
	return ""
}

func address(svc *corev1.Service, p *corev1.Pod, ip string) corev1.EndpointAddress {
	a := corev1.EndpointAddress{
		IP:        ip,
		TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: p.Namespace, Name: p.Name, UID: p.UID},
	}
	if p.Spec.NodeName != "" {
		a.NodeName = &p.Spec.NodeName
	}
	if backends.NamedHost(p, svc) {
		a.Hostname = p.Spec.Hostname
	}
	return a
}

func portsOf(svc *corev1.Service, p *corev1.Pod) []corev1.EndpointPort {
	var ports []corev1.EndpointPort
	for i := range svc.Spec.Ports {
		sp := &svc.Spec.Ports[i]
		if n, ok := backends.Port(p, sp); ok {
			ports = append(ports, corev1.EndpointPort{Name: sp.Name, Port: n, Protocol: sp.Protocol, AppProtocol: sp.AppProtocol})
		}
	}
	slices.SortFunc(ports, func(a, b corev1.EndpointPort) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Port, b.Port), strings.Compare(string(a.Protocol), string(b.Protocol)))
	})
	return ports
}

func spell(ports []corev1.EndpointPort) string {
	var b strings.Builder
	for _, p := range ports {
		b.WriteString(p.Name + "|" + strconv.Itoa(int(p.Port)) + "|" + string(p.Protocol) + "|")
		if p.AppProtocol != nil {
			b.WriteString(*p.AppProtocol)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func byIP(a, b corev1.EndpointAddress) int {
	return cmp.Or(strings.Compare(a.IP, b.IP), strings.Compare(string(a.TargetRef.UID), string(b.TargetRef.UID)))
}

// truncate cuts the subsets to capacity, in proportion, unready addresses first, and reports whether it did.
func truncate(subsets []corev1.EndpointSubset) bool {
	ready, notReady := 0, 0
	for _, s := range subsets {
		ready += len(s.Addresses)
		notReady += len(s.NotReadyAddresses)
	}
	if ready+notReady <= capacity {
		return false
	}
	cutReady := ready > capacity
	room, whole := capacity-ready, notReady
	if cutReady {
		room, whole = capacity, ready
	}
	left := room
	for i := range subsets {
		s := &subsets[i]
		list := &s.NotReadyAddresses
		if cutReady {
			s.NotReadyAddresses = nil
			list = &s.Addresses
		}
		share := int(math.Ceil(float64(len(*list)) / float64(whole) * float64(room)))
		n := min(share, left, len(*list))
		*list = (*list)[:n]
		left -= n
	}
	return true
}
