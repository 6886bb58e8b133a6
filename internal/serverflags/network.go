package serverflags

import (
	"fmt"
	"net/netip"

	"fairlead.dev/internal/controlplane"
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
}

func (f *network) complete(a *controlplane.Access) (err error) {
	if a.ServiceCIDR, err = netip.ParsePrefix(f.services); err != nil || !a.ServiceCIDR.Addr().Is4() {
		return fmt.Errorf("--service-cluster-ip-range=%s: want one IPv4 range, such as 10.0.0.0/24", f.services)
	}
	return nil
}
