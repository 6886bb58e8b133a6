package node

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/node/addresses"
)

// ParseFamilies parses Options.Families: IPv4, IPv6 or both, each once.
func ParseFamilies(names []string) (all []corev1.IPFamily, err error) {
	for _, name := range names {
		family := corev1.IPFamily(name)
		if family != corev1.IPv4Protocol && family != corev1.IPv6Protocol {
			return nil, fmt.Errorf("%q is neither IPv4 nor IPv6", name)
		}
		all = append(all, family)
	}
	if len(all) > 2 || len(all) == 2 && all[0] == all[1] {
		return nil, fmt.Errorf("%q: want each family once", names)
	}
	return all, nil
}

// families returns the families with their methods.
func (o Options) families() addresses.Families { return o.Families }
