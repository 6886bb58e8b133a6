package serverflags

import (
	"errors"
	"slices"
	"strings"

	"fairlead.dev/internal/controlplane"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func registerEtcd(set *pflag.FlagSet, e *controlplane.Etcd, overrides *[]string) {
	set.StringSliceVar(&e.Servers, "etcd-servers", nil, "client URLs of an etcd cluster to use as the store; the data directory then has keys, certificates and the kubeconfig")
	set.StringSliceVar(overrides, "etcd-servers-overrides", nil, "etcd clusters of single built-in resources, such as /events#http://etcd-4:2379;http://etcd-5:2379: group/resource#servers")
	set.StringVar(&e.CAFile, "etcd-cafile", "", "CA of the etcd servers' certificates (default the system's)")
	set.StringVar(&e.CertFile, "etcd-certfile", "", "client certificate for the etcd servers")
	set.StringVar(&e.KeyFile, "etcd-keyfile", "", "key of the client certificate")
	set.StringVar(&e.Prefix, "etcd-prefix", controlplane.DefaultEtcdPrefix, "prefix of all keys in etcd")
}

// errOverrides has kube-apiserver's words.
var errOverrides = errors.New("--etcd-servers-overrides invalid, must be of format: group/resource#servers, where servers are URLs, semicolon separated")

// etcdOverrides parses the values of --etcd-servers-overrides.
func etcdOverrides(values []string) (list []controlplane.EtcdOverride, err error) {
	for _, v := range values {
		parts := strings.Split(v, "#")
		names := strings.Split(parts[0], "/")
		if len(parts) != 2 || len(names) != 2 {
			return nil, errOverrides
		}
		servers := strings.Split(parts[1], ";")
		if slices.Contains(servers, "") {
			return nil, errOverrides
		}
		list = append(list, controlplane.EtcdOverride{Resource: schema.GroupResource{Group: names[0], Resource: names[1]}, Servers: servers})
	}
	return list, nil
}
