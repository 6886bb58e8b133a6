//lint:file-ignore SA1019 Endpoints are deprecated, and served

package endpointslicemirroring

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestRepack(t *testing.T) {
	at := func(ips ...string) (out []corev1.EndpointAddress) {
		for _, ip := range ips {
			out = append(out, corev1.EndpointAddress{IP: ip})
		}
		return out
	}
	ports := func(numbers ...int32) (out []corev1.EndpointPort) {
		for _, n := range numbers {
			out = append(out, corev1.EndpointPort{Port: n})
		}
		return out
	}
	var many []string
	for i := range 1002 {
		many = append(many, fmt.Sprintf("10.1.%d.%d", i/250, i%250+1))
	}
	for _, tt := range []struct {
		name    string
		subsets []corev1.EndpointSubset
		want    string
		skipped skipped
	}{
		{"ports of the same hosts are one group", []corev1.EndpointSubset{
			{Addresses: at("10.0.0.2", "10.0.0.1"), Ports: ports(80)}, {Addresses: at("10.0.0.1", "10.0.0.2"), Ports: ports(443)},
		}, "IPv4 80,443 10.0.0.1+ 10.0.0.2+", skipped{}},
		{"ports of other hosts are not", []corev1.EndpointSubset{
			{Addresses: at("10.0.0.1", "10.0.0.2"), Ports: ports(80)}, {Addresses: at("10.0.0.1"), Ports: ports(443)},
		}, "IPv4 80 10.0.0.1+ 10.0.0.2+; IPv4 443 10.0.0.1+", skipped{}},
		{"not ready wins", []corev1.EndpointSubset{
			{Addresses: at("10.0.0.1"), Ports: ports(80)}, {NotReadyAddresses: at("10.0.0.1"), Ports: ports(80)},
		}, "IPv4 80 10.0.0.1-", skipped{}},
		{"no ports", []corev1.EndpointSubset{{Addresses: at("10.0.0.1")}}, "IPv4  10.0.0.1+", skipped{}},
		{"what is no address", []corev1.EndpointSubset{{Addresses: at("010.0.0.1", "here"), Ports: ports(80)}}, "IPv4 80 10.0.0.1+", skipped{invalid: 1}},
		{"both families", []corev1.EndpointSubset{{Addresses: at("10.0.0.1", "fd00::1"), Ports: ports(80)}}, "IPv4 80 10.0.0.1+; IPv6 80 fd00::1+", skipped{}},
		{"too many", []corev1.EndpointSubset{{Addresses: at(many...), Ports: ports(80)}}, "1000", skipped{tooMany: 2}},
	} {
		groups, skip := repack(tt.subsets)
		var got []string
		for _, g := range groups {
			var numbers []string
			for _, p := range g.ports {
				numbers = append(numbers, fmt.Sprint(*p.Port))
			}
			line := fmt.Sprint(g.family, " ", strings.Join(numbers, ","))
			for _, e := range g.endpoints {
				line += " " + e.Addresses[0] + map[bool]string{true: "+", false: "-"}[*e.Conditions.Ready]
			}
			if len(g.endpoints) > 10 {
				line = fmt.Sprint(len(g.endpoints))
			}
			got = append(got, line)
		}
		if strings.Join(got, "; ") != tt.want || skip != tt.skipped {
			t.Errorf("%s: %s %+v, want %s", tt.name, strings.Join(got, "; "), skip, tt.want)
		}
	}
}
