package main

import (
	"fairlead.dev/internal/controlplane"
	"github.com/spf13/pflag"
)

// registerKubelets registers the flags of the connections to real kubelets, by kube-apiserver's names.
func registerKubelets(flags *pflag.FlagSet, k *controlplane.Kubelets) {
	flags.StringVar(&k.CertFile, "kubelet-client-certificate", "", "client certificate for kubelets (default one of the server's own CA)")
	flags.StringVar(&k.KeyFile, "kubelet-client-key", "", "key of the client certificate for kubelets")
	flags.StringVar(&k.CAFile, "kubelet-certificate-authority", "", "file with the CAs of the kubelets' certificates (default: any certificate is accepted)")
	flags.StringSliceVar(&k.AddressTypes, "kubelet-preferred-address-types", nil, "types of the node addresses at which to reach kubelets, in order of preference (default InternalIP,ExternalIP,InternalDNS,ExternalDNS,Hostname)")
}
