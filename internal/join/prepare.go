package join

import (
	"context"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/internal/client/manifest"
)

// Group is the group of the tokens that nodes join with, by kubeadm's name.
const Group = "system:bootstrappers:kubeadm:default-node-token"

//go:embed cluster.yaml
var clusterYAML string

//go:embed defaults.yaml
var defaultsYAML string

// Cluster is the address of a cluster, and the authority by which a node trusts it.
type Cluster struct {
	// Server is the URL of the API server for nodes, and CA its authority in PEM.
	Server string
	CA     []byte
}

// errLoopback is the error of a server that other machines do not reach.
var errLoopback = errors.New("the API server is reached only from its own machine: start it with --listen=0.0.0.0:6443, or name the URL for nodes with --server")

// ClusterOf returns the cluster of a kubeconfig, at a URL. If that is "", it is the kubeconfig's, or, if that is a loopback
// address, an endpoint of the Service kubernetes.
func ClusterOf(ctx context.Context, c *client.Client, config *rest.Config, server string) (Cluster, error) {
	tls := *config
	if err := rest.LoadTLSFiles(&tls); err != nil {
		return Cluster{}, err
	}
	if len(tls.CAData) == 0 {
		return Cluster{}, errors.New("the kubeconfig has no certificate authority, by which nodes trust the API server")
	}
	if server != "" {
		return Cluster{server, tls.CAData}, nil
	}
	u, err := url.Parse(config.Host)
	if err != nil {
		return Cluster{}, err
	}
	if !isLoopback(u.Hostname()) {
		return Cluster{config.Host, tls.CAData}, nil
	}
	slice, err := client.For[*discoveryv1.EndpointSlice](c).Namespace(metav1.NamespaceDefault).Get(ctx, "kubernetes")
	if err != nil {
		return Cluster{}, err
	}
	for _, e := range slice.Endpoints {
		for _, address := range e.Addresses {
			if len(slice.Ports) > 0 && slice.Ports[0].Port != nil && !isLoopback(address) {
				return Cluster{"https://" + net.JoinHostPort(address, strconv.Itoa(int(*slice.Ports[0].Port))), tls.CAData}, nil
			}
		}
	}
	return Cluster{}, errLoopback
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// Prepare applies the objects that nodes read when they join. It may be called again; ConfigMaps that an operator may change are created
// once.
func Prepare(ctx context.Context, c *client.Client, cluster Cluster) error {
	u, err := url.Parse(cluster.Server)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("--server=%s: want the URL of the API server, such as https://10.0.0.1:6443", cluster.Server)
	}
	facts, err := FactsOf(ctx, c)
	if err != nil {
		return err
	}
	values := struct {
		Facts
		CAData, Server, Host, Group string
	}{facts, base64.StdEncoding.EncodeToString(cluster.CA), cluster.Server, u.Host, Group}
	for _, m := range []struct {
		text  string
		write func(context.Context, *client.Client, []*manifest.Object) error
	}{{defaultsYAML, manifest.Create}, {clusterYAML, manifest.Apply}} {
		objects, err := manifest.Render(m.text, values)
		if err != nil {
			return err
		}
		if err := m.write(ctx, c, objects); err != nil {
			return err
		}
	}
	return nil
}
