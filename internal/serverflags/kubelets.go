package serverflags

import (
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/server/reach"
	"github.com/spf13/pflag"
)

func registerKubelets(set *pflag.FlagSet, k *controlplane.Kubelets) {
	if k.AddressTypes == nil {
		for _, t := range reach.DefaultAddressTypes {
			k.AddressTypes = append(k.AddressTypes, string(t))
		}
	}
	set.StringVar(&k.CertFile, "kubelet-client-certificate", "", "client certificate for kubelets (default one of the server's own CA)")
	set.StringVar(&k.KeyFile, "kubelet-client-key", "", "key of the client certificate for kubelets")
	set.StringVar(&k.CAFile, "kubelet-certificate-authority", "", "file with the CAs of the kubelets' certificates (default: any certificate is accepted)")
	set.StringSliceVar(&k.AddressTypes, "kubelet-preferred-address-types", k.AddressTypes, "types of the node addresses at which to reach kubelets, in order of preference")
}
