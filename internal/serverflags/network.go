package serverflags

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/server/admission"
	"github.com/spf13/pflag"
)

// network has the ranges of cluster IPs.
type network struct{ services []string }

func (f *network) register(set *pflag.FlagSet, o *controlplane.Options) {
	set.StringVar(&o.AdvertiseAddress, "advertise-address", "", "IP address of the API server in the Service kubernetes (default the one it listens on, or that of the default route's interface)")
	usual := controlplane.DefaultServiceCIDR
	if len(o.Access.ServiceCIDRs) > 0 {
		usual = o.Access.ServiceCIDRs[0]
	}
	set.StringSliceVar(&f.services, "service-cluster-ip-range", []string{usual.String()}, "range of the cluster IPs of Services, or one of IPv4 and one of IPv6, the primary one first, for dual-stack Services")
	o.NodePorts = admission.DefaultNodePorts
	set.Var(&o.NodePorts, "service-node-port-range", "range of the node ports of Services, such as 30000-32767, both ends included")
	set.IntVar(&o.KubernetesNodePort, "kubernetes-service-node-port", 0, "node port of the Service kubernetes; with 0 it has the type ClusterIP")
}

func (f *network) complete(o *controlplane.Options) (err error) {
	if o.Access.ServiceCIDRs, err = serviceRanges(f.services); err != nil {
		return err
	}
	switch p := o.KubernetesNodePort; {
	case p < 0 || p > 65535:
		return fmt.Errorf("--kubernetes-service-node-port %v must be between 0 and 65535, inclusive. If 0, the Kubernetes master service will be of type ClusterIP", p)
	case p > 0 && o.NodePorts.Size > 0 && !o.NodePorts.Contains(p):
		return fmt.Errorf("kubernetes service node port range %v doesn't contain %v", o.NodePorts, p)
	}
	return nil
}

// serviceRanges parses the ranges of cluster IPs.
func serviceRanges(texts []string) (all []netip.Prefix, err error) {
	if len(texts) == 0 {
		return nil, errors.New("--service-cluster-ip-range must contain at least one valid cidr")
	}
	if len(texts) > 2 {
		return nil, errors.New("--service-cluster-ip-range must not contain more than two entries")
	}
	for i, text := range texts {
		p, err := netip.ParsePrefix(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("--service-cluster-ip-range[%d] is not a valid cidr: %w", i, err)
		}
		all = append(all, p.Masked())
	}
	if len(all) == 2 && all[0].Addr().Is4() == all[1].Addr().Is4() {
		return nil, errors.New("--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP family")
	}
	return all, nil
}
