package serverflags

import (
	"fairlead.dev/internal/controlplane"
	"github.com/spf13/pflag"
)

func registerEtcd(set *pflag.FlagSet, e *controlplane.Etcd) {
	set.StringSliceVar(&e.Servers, "etcd-servers", nil, "client URLs of an etcd cluster to use as the store; the data directory then has keys, certificates and the kubeconfig")
	set.StringVar(&e.CAFile, "etcd-cafile", "", "CA of the etcd servers' certificates (default the system's)")
	set.StringVar(&e.CertFile, "etcd-certfile", "", "client certificate for the etcd servers")
	set.StringVar(&e.KeyFile, "etcd-keyfile", "", "key of the client certificate")
	set.StringVar(&e.Prefix, "etcd-prefix", controlplane.DefaultEtcdPrefix, "prefix of all keys in etcd")
}
