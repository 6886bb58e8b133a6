package serverflags

import (
	"fmt"
	"net/netip"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/server/admission"
	"github.com/spf13/pflag"
)

// network has the range of cluster IPs.
type network struct{ services string }

func (f *network) register(set *pflag.FlagSet, o *controlplane.Options) {
	set.StringVar(&o.AdvertiseAddress, "advertise-address", "", "IP address of the API server in the Service kubernetes (default the one it listens on, or that of the default route's interface)")
	if !o.Access.ServiceCIDR.IsValid() {
		o.Access.ServiceCIDR = controlplane.DefaultServiceCIDR
	}
	set.StringVar(&f.services, "service-cluster-ip-range", o.Access.ServiceCIDR.String(), "range of the cluster IPs of Services")
	o.NodePorts = admission.DefaultNodePorts
	set.Var(&o.NodePorts, "service-node-port-range", "range of the node ports of Services, such as 30000-32767, both ends included")
	set.IntVar(&o.KubernetesNodePort, "kubernetes-service-node-port", 0, "node port of the Service kubernetes; with 0 it has the type ClusterIP")
}

func (f *network) complete(o *controlplane.Options) (err error) {
	if o.Access.ServiceCIDR, err = netip.ParsePrefix(f.services); err != nil || !o.Access.ServiceCIDR.Addr().Is4() {
		return fmt.Errorf("--service-cluster-ip-range=%s: want one IPv4 range, such as 10.0.0.0/24", f.services)
	}
	switch p := o.KubernetesNodePort; {
	case p < 0 || p > 65535:
		return fmt.Errorf("--kubernetes-service-node-port %v must be between 0 and 65535, inclusive. If 0, the Kubernetes master service will be of type ClusterIP", p)
	case p > 0 && o.NodePorts.Size > 0 && !o.NodePorts.Contains(p):
		return fmt.Errorf("kubernetes service node port range %v doesn't contain %v", o.NodePorts, p)
	}
	return nil
}
