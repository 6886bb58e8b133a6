package join

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"text/template"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/internal/client/manifest"
)

const (
	// Group is the group of the tokens that nodes join with, by kubeadm's name.
	Group = "system:bootstrappers:kubeadm:default-node-token"
	// Domain is the cluster's DNS domain.
	Domain = "cluster.local"
)

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
// address, the one in the endpoints of the Service kubernetes.
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
	endpoints, err := client.For[*corev1.Endpoints](c).Namespace(metav1.NamespaceDefault).Get(ctx, "kubernetes")
	if err != nil {
		return Cluster{}, err
	}
	for _, s := range endpoints.Subsets {
		for _, a := range s.Addresses {
			if len(s.Ports) > 0 && !isLoopback(a.IP) {
				return Cluster{"https://" + net.JoinHostPort(a.IP, strconv.Itoa(int(s.Ports[0].Port))), tls.CAData}, nil
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
	served, err := serverVersion(ctx, c)
	if err != nil {
		return err
	}
	services, err := client.For[*networkingv1.ServiceCIDR](c).Get(ctx, "kubernetes")
	if err != nil {
		return fmt.Errorf("the range of cluster IPs: %w", err)
	}
	dns, err := dnsAddress(services.Spec.CIDRs[0])
	if err != nil {
		return err
	}
	values := map[string]any{
		"CAData": base64.StdEncoding.EncodeToString(cluster.CA), "Server": cluster.Server, "Host": u.Host, "Version": served,
		"ServiceCIDR": services.Spec.CIDRs[0], "DNS": dns, "Domain": Domain, "Group": Group,
	}
	for _, m := range []struct {
		text  string
		write func(context.Context, *client.Client, []*manifest.Object) error
	}{{defaultsYAML, manifest.Create}, {clusterYAML, manifest.Apply}} {
		objects, err := render(m.text, values)
		if err != nil {
			return err
		}
		if err := m.write(ctx, c, objects); err != nil {
			return err
		}
	}
	return nil
}

// render returns the objects of a template.
func render(text string, values any) ([]*manifest.Object, error) {
	t, err := template.New("").Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, values); err != nil {
		return nil, err
	}
	return manifest.Parse(out.Bytes())
}

// serverVersion returns the version of Kubernetes that the server serves, such as v1.37.2.
func serverVersion(ctx context.Context, c *client.Client) (string, error) {
	res, err := c.REST().Do(ctx, client.Request{Path: "/version"})
	if err != nil {
		return "", err
	}
	var info version.Info
	return info.GitVersion, json.Unmarshal(res.Body, &info)
}

// dnsAddress returns the address of the cluster's DNS Service, by convention the tenth of the range.
func dnsAddress(cidr string) (string, error) {
	p, err := netip.ParsePrefix(cidr)
	if err != nil {
		return "", err
	}
	a := p.Masked().Addr()
	for range 10 {
		a = a.Next()
	}
	return a.String(), nil
}
