package kubeapiserver

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"fairlead.dev/internal/connections"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/server/auth/chain"
	"fairlead.dev/internal/serverflags"
	"github.com/spf13/pflag"
)

// flags are the flags that have the same effect as in kube-apiserver.
type flags struct {
	address net.IP
	port    int
	certDir string
	shared  *serverflags.Flags
	options controlplane.Options
}

func (f *flags) register(set *pflag.FlagSet) {
	set.IPVar(&f.address, "bind-address", net.IPv4zero, "address to listen on")
	set.IntVar(&f.port, "secure-port", 6443, "port to serve HTTPS on")
	set.StringVar(&f.certDir, "cert-dir", "", "directory of apiserver.crt and apiserver.key, which are made if they do not exist")
	f.options.Access = controlplane.Access{
		Authorization: chain.Modes{Types: []string{chain.AlwaysAllow}}, NoBootstrapTokens: true,
		ServiceCIDRs: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")},
	}
	f.options.Admission = controlplane.Admission{Disabled: serverflags.ByRequest, NoPrivileged: true}
	f.options.Kubelets.AddressTypes = []string{"Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"}
	f.shared = serverflags.Register(set, &f.options)
}

// controlPlane returns the options of the control plane that the flags describe. It returns an error that names the
// flag at fault.
func (f *flags) controlPlane(ctx context.Context) (controlplane.Options, error) {
	o := f.options
	if f.port < 1 || f.port > 65535 {
		return o, fmt.Errorf("--secure-port=%d: want a port between 1 and 65535", f.port)
	}
	o.Listen = net.JoinHostPort(f.address.String(), strconv.Itoa(f.port))
	o.HTTP.MaxConnections = connections.Default(0)
	if err := f.shared.Complete(&o); err != nil {
		return o, err
	}
	if c := &o.Serving.Certificate; c.CertFile == "" && f.certDir != "" {
		var err error
		if c.CertFile, c.KeyFile, err = selfSigned(f.certDir, f.address); err != nil {
			return o, fmt.Errorf("--cert-dir: %w", err)
		}
	}
	return o, useStore(ctx, &o)
}
