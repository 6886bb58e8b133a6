package endpointslice

import (
	"slices"
	"strconv"
	"strings"

	discoveryv1 "k8s.io/api/discovery/v1"
)

// spell writes ports in one string that is equal for equal sets of ports,
// whatever their order.
func spell(ports []discoveryv1.EndpointPort) string {
	lines := make([]string, len(ports))
	for i, p := range ports {
		var b strings.Builder
		b.WriteString(deref(p.Name))
		b.WriteByte('|')
		if p.Port != nil {
			b.WriteString(strconv.Itoa(int(*p.Port)))
		}
		b.WriteByte('|')
		b.WriteString(string(deref(p.Protocol)))
		b.WriteByte('|')
		b.WriteString(deref(p.AppProtocol))
		lines[i] = b.String()
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
