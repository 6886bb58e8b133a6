//lint:file-ignore SA1019 Endpoints are deprecated, and served

package endpointslicemirroring

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"
	netutils "k8s.io/utils/net"
)

// perSubset is the maximum number of endpoints mirrored for one set of ports.
const perSubset = 1000

// group is the content of one slice: the endpoints of one family and one set of ports.
type group struct {
	family    discoveryv1.AddressType
	ports     []discoveryv1.EndpointPort
	endpoints []discoveryv1.Endpoint
}

// skipped counts the addresses that are not mirrored.
type skipped struct{ invalid, tooMany int }

// who is an address of a pod; several pods may have the same address.
type who struct {
	ip  string
	uid types.UID
}

// behind are the addresses that serve a port, with their readiness. An address that is not ready in one subset is
// not ready, whatever other subsets contain.
type behind struct {
	port  *corev1.EndpointPort // nil for a subset without ports
	ready map[who]bool
}

// repack normalizes subsets to groups: ports with the same addresses are in one.
func repack(subsets []corev1.EndpointSubset) ([]group, skipped) {
	addresses := map[who]*corev1.EndpointAddress{}
	byPort := map[string]*behind{}
	add := func(port *corev1.EndpointPort, list []corev1.EndpointAddress, ready bool) {
		name := spellPort(port)
		b := byPort[name]
		if b == nil {
			b = &behind{port: port, ready: map[who]bool{}}
			byPort[name] = b
		}
		for i := range list {
			w := who{ip: list[i].IP}
			if ref := list[i].TargetRef; ref != nil {
				w.uid = ref.UID
			}
			if addresses[w] == nil {
				addresses[w] = &list[i]
			}
			was, seen := b.ready[w]
			b.ready[w] = ready && (was || !seen)
		}
	}
	for i := range subsets {
		s := &subsets[i]
		ports := []*corev1.EndpointPort{nil}
		if len(s.Ports) > 0 {
			ports = ports[:0]
		}
		for j := range s.Ports {
			ports = append(ports, &s.Ports[j])
		}
		for _, p := range ports {
			add(p, s.Addresses, true)
			add(p, s.NotReadyAddresses, false)
		}
	}
	// Ports in order, so that equal Endpoints give equal groups.
	names := make([]string, 0, len(byPort))
	for name := range byPort {
		names = append(names, name)
	}
	slices.Sort(names)
	var order []string
	ports := map[string][]discoveryv1.EndpointPort{}
	hosts := map[string]*behind{}
	for _, name := range names {
		b := byPort[name]
		key := b.spell()
		if hosts[key] == nil {
			hosts[key] = b
			order = append(order, key)
		}
		if p := b.port; p != nil {
			ports[key] = append(ports[key], discoveryv1.EndpointPort{Name: &p.Name, Port: &p.Port, Protocol: &p.Protocol, AppProtocol: p.AppProtocol})
		}
	}
	var groups []group
	var skip skipped
	for _, key := range order {
		groups = append(groups, split(hosts[key], ports[key], addresses, &skip)...)
	}
	return groups, skip
}

func spellPort(p *corev1.EndpointPort) string {
	if p == nil {
		return ""
	}
	app := ""
	if p.AppProtocol != nil {
		app = *p.AppProtocol
	}
	return fmt.Sprintf("%s|%05d|%s|%s", p.Name, p.Port, p.Protocol, app)
}

func (b *behind) sorted() []who {
	all := make([]who, 0, len(b.ready))
	for w := range b.ready {
		all = append(all, w)
	}
	slices.SortFunc(all, func(x, y who) int {
		return cmp.Or(strings.Compare(x.ip, y.ip), strings.Compare(string(x.uid), string(y.uid)))
	})
	return all
}

func (b *behind) spell() string {
	var s strings.Builder
	for _, w := range b.sorted() {
		fmt.Fprintf(&s, "%s %s %v\n", w.ip, w.uid, b.ready[w])
	}
	return s.String()
}

// split returns the groups of both families, ready addresses first.
func split(b *behind, ports []discoveryv1.EndpointPort, addresses map[who]*corev1.EndpointAddress, skip *skipped) []group {
	v4, v6 := group{family: discoveryv1.AddressTypeIPv4, ports: ports}, group{family: discoveryv1.AddressTypeIPv6, ports: ports}
	all := b.sorted()
	slices.SortStableFunc(all, func(x, y who) int {
		switch {
		case b.ready[x] == b.ready[y]:
			return 0
		case b.ready[x]:
			return -1
		}
		return 1
	})
	for _, w := range all {
		if len(v4.endpoints)+len(v6.endpoints) >= perSubset {
			skip.tooMany++
			continue
		}
		ip, ok := netip.AddrFromSlice(netutils.ParseIPSloppy(w.ip))
		if !ok {
			skip.invalid++
			continue
		}
		ip = ip.Unmap()
		a, ready := addresses[w], b.ready[w]
		ep := discoveryv1.Endpoint{
			Addresses:  []string{ip.String()},
			Conditions: discoveryv1.EndpointConditions{Ready: &ready},
			TargetRef:  a.TargetRef,
			NodeName:   a.NodeName,
		}
		if a.Hostname != "" {
			ep.Hostname = &a.Hostname
		}
		if ip.Is4() {
			v4.endpoints = append(v4.endpoints, ep)
		} else {
			v6.endpoints = append(v6.endpoints, ep)
		}
	}
	return slices.DeleteFunc([]group{v4, v6}, func(g group) bool { return len(g.endpoints) == 0 })
}
