package join

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/version"

	"fairlead.dev/client"
)

// Facts are settings of a cluster that the programs on its nodes must know.
type Facts struct {
	// Version is that of the API server, such as v1.37.2.
	Version string
	// ServiceCIDR is the first range of cluster IPs, DNS the address of the cluster's DNS Service in it, and Domain its
	// domain.
	ServiceCIDR, DNS, Domain string
}

// domain is the DNS domain of every cluster.
const domain = "cluster.local"

// FactsOf asks a server for the facts.
func FactsOf(ctx context.Context, c *client.Client) (f Facts, err error) {
	f.Domain = domain
	if f.Version, err = serverVersion(ctx, c); err != nil {
		return f, err
	}
	services, err := client.For[*networkingv1.ServiceCIDR](c).Get(ctx, "kubernetes")
	if err != nil {
		return f, fmt.Errorf("the range of cluster IPs: %w", err)
	}
	f.ServiceCIDR = services.Spec.CIDRs[0]
	f.DNS, err = dnsAddress(f.ServiceCIDR)
	return f, err
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
